#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "transport/datagram_target.hpp"
#include "transport/socket_users.hpp"

namespace vmswitch {

namespace {

result<void> check_owner(const unix_address& name, uid_t owner, uid_t sender) {
  if (owner == sender)
    return {};
  return fail(
      fmt::format("the socket {} belongs to uid {}, but uid {} sends in its name: start the "
                  "client as the user that owns its socket",
                  to_string(name), owner, sender),
      EACCES);
}

} // namespace

result<std::shared_ptr<const datagram_target>> datagram_target::find(const unix_address& name,
                                                                     std::optional<uid_t> sender) {
  if (!sender)
    return fail(
        fmt::format("the system does not tell who sends in the name of {}", to_string(name)),
        EACCES);
  if (name.abstract()) {
    const auto owner = socket_owner(name);
    if (!owner)
      return fail(fmt::format("the system does not tell whose socket {} is: bind the client's "
                              "socket to a path",
                              to_string(name)),
                  EACCES);
    if (auto fits = check_owner(name, *owner, *sender); !fits)
      return tl::unexpected{fits.error()};
    return std::shared_ptr<const datagram_target>{new datagram_target{name, name, {}}};
  }
  const std::string path{name.name()};
  owned_fd file{::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0)
    return fail_errno(fmt::format("cannot find the client's socket {}", to_string(name)), errno);
  if (!S_ISSOCK(status.st_mode))
    return fail(fmt::format("there is no socket at {}: bind the client's socket to a path that "
                            "nothing else replaces, not even a symbolic link",
                            to_string(name)),
                ENOTSOCK);
  if (auto fits = check_owner(name, status.st_uid, *sender); !fits)
    return tl::unexpected{fits.error()};
  // proc(5): opening such a link leads to the file itself, whatever its name has become.
  const auto through = fmt::format("/proc/self/fd/{}", file.get());
  struct stat seen {};
  if (::stat(through.c_str(), &seen) != 0 || seen.st_dev != status.st_dev ||
      seen.st_ino != status.st_ino)
    return fail(fmt::format("cannot answer the client {}: mount proc at /proc", to_string(name)),
                ENOENT);
  const auto address = unix_address::from_path(through);
  if (!address)
    return tl::unexpected{address.error()};
  return std::shared_ptr<const datagram_target>{
      new datagram_target{name, *address, std::move(file)}};
}

} // namespace vmswitch
