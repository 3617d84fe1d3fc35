#include <cerrno>

#include <fmt/format.h>
#include <sys/stat.h>

#include "transport/datagram_target.hpp"

namespace vmswitch {

// This system neither tells the user of a datagram's sender nor sends to an open file. What is at
// the name has to be a socket; more cannot be known.
result<std::shared_ptr<const datagram_target>> datagram_target::find(const unix_address& name,
                                                                     std::optional<uid_t>) {
  struct stat status {};
  const std::string path{name.name()};
  if (::lstat(path.c_str(), &status) != 0)
    return fail_errno(fmt::format("cannot find the client's socket {}", to_string(name)), errno);
  if (!S_ISSOCK(status.st_mode))
    return fail(fmt::format("there is no socket at {}: bind the client's socket to a path that "
                            "nothing else replaces, not even a symbolic link",
                            to_string(name)),
                ENOTSOCK);
  return std::shared_ptr<const datagram_target>{new datagram_target{name, name, {}}};
}

} // namespace vmswitch
