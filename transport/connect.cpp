#include "transport/connect.hpp"

#include <filesystem>

#include <cerrno>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/bind_path.hpp"
#include "transport/unix_address.hpp"
#include "transport/unix_socket.hpp"

namespace vmswitch {

namespace {

tl::unexpected<error> explain(std::string_view path, int code) {
  switch (code) {
  case ENOENT:
    return fail(
        fmt::format("there is no socket {}: start the switch first (or check the path)", path),
        code);
  case ECONNREFUSED:
    return fail(fmt::format("nobody listens on {} any more: start the switch again", path), code);
  case EACCES:
    return fail(fmt::format("no permission to connect to {}: join the group that owns the socket "
                            "(see: ls -l {}), or start the switch with another group or mode",
                            path, path),
                code);
  case EPROTOTYPE:
    return fail(fmt::format("{} is a socket of the other type (stream or datagram)", path), code);
  default:
    return fail_errno(fmt::format("cannot connect to {}", path), code);
  }
}

// A Unix socket's connect() that a signal ends has done nothing: it may be called anew.
int connect_waiting(int fd, const unix_address& address) {
  while (::connect(fd, address.data(), address.length()) != 0)
    if (errno != EINTR)
      return errno;
  return 0;
}

result<owned_fd> connect_to(int type, std::string_view path, const unix_address* own) {
  const auto address = unix_address::from_path(path);
  if (!address)
    return tl::unexpected{address.error()};
  owned_fd fd = open_unix_socket(type, blocking::yes);
  if (!fd)
    return fail_errno("cannot make a socket", errno);
  if (own)
    if (auto bound = bind_path(fd.get(), type, *own); !bound)
      return tl::unexpected{bound.error()};
  if (const int code = connect_waiting(fd.get(), *address); code != 0) {
    if (own)
      ::unlink(std::string{own->name()}.c_str());
    return explain(path, code);
  }
  return fd;
}

} // namespace

result<owned_fd> connect_stream(std::string_view path) {
  return connect_to(SOCK_STREAM, path, nullptr);
}

result<owned_fd> connect_datagram(std::string_view server_path, std::string_view own_path) {
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(own_path, failure);
  const auto own = unix_address::from_path(failure ? own_path : absolute.native());
  if (!own)
    return tl::unexpected{own.error()};
  return connect_to(SOCK_DGRAM, server_path, &*own);
}

} // namespace vmswitch
