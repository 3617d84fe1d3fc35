#include "transport/bind_path.hpp"

#include <filesystem>

#include <cerrno>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/unix_socket.hpp"

namespace vmswitch {

namespace {

// 0 if somebody accepts, else errno.
int probe(int type, const unix_address& address) {
  // Non-blocking: a full backlog must not make us wait.
  const owned_fd scratch = open_unix_socket(type, blocking::no);
  if (!scratch)
    return errno;
  return ::connect(scratch.get(), address.data(), address.length()) == 0 ? 0 : errno;
}

tl::unexpected<error> explain(const std::string& path, int code) {
  const auto parent = std::filesystem::path{path}.parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  switch (code) {
  case ENOENT:
    return fail(fmt::format("cannot make the socket {}: the folder {} does not exist (create it "
                            "with: mkdir -p {})",
                            path, folder, folder),
                code);
  case ENOTDIR:
    return fail(fmt::format("cannot make the socket {}: {} is not a folder", path, folder), code);
  case EACCES:
  case EPERM:
    return fail(fmt::format("cannot make the socket {}: no permission to create files in {} "
                            "(choose a folder of yours, such as $XDG_RUNTIME_DIR)",
                            path, folder),
                code);
  default:
    return fail_errno(fmt::format("cannot make the socket {}", path), code);
  }
}

// Removes what is in the way at `address`, if that is a stale socket.
result<void> remove_stale(int type, const unix_address& address) {
  const std::string path{address.name()};
  struct stat before {};
  if (::lstat(path.c_str(), &before) != 0)
    return errno == ENOENT ? result<void>{} : explain(path, errno); // gone: try again
  if (!S_ISSOCK(before.st_mode))
    return fail(fmt::format("cannot make the socket {}: there is a file of that name which is not "
                            "a socket (it is left untouched: move it away, or choose another path)",
                            path),
                EEXIST);
  const int code = probe(type, address);
  if (code == EACCES)
    return fail(fmt::format("cannot make the socket {}: there is a socket that this user may not "
                            "connect to (if no process uses it, remove it as its owner)",
                            path),
                code);
  if (code != ECONNREFUSED && code != ENOENT)
    return fail(
        fmt::format("another process is listening on {}: stop it, or choose another path", path),
        EADDRINUSE);
  struct stat after {};
  if (::lstat(path.c_str(), &after) == 0 && after.st_dev == before.st_dev &&
      after.st_ino == before.st_ino && ::unlink(path.c_str()) != 0 && errno != ENOENT)
    return fail_errno(fmt::format("cannot remove the stale socket {}", path), errno);
  return {};
}

} // namespace

result<void> bind_path(int fd, int type, const unix_address& address) {
  if (bind_unix_socket(fd, address) == 0)
    return {};
  const std::string path{address.name()};
  if (errno != EADDRINUSE)
    return explain(path, errno);
  if (auto removed = remove_stale(type, address); !removed)
    return removed;
  if (bind_unix_socket(fd, address) == 0)
    return {};
  if (errno == EADDRINUSE)
    return fail(fmt::format("another process has just taken {}", path), errno);
  return explain(path, errno);
}

bool is_dead(int type, const unix_address& address) {
  const int code = probe(type, address);
  return code == ECONNREFUSED || code == ENOENT;
}

} // namespace vmswitch
