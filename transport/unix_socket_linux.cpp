#include <algorithm>

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "transport/link.hpp"
#include "transport/unix_socket.hpp"

namespace vmswitch {

owned_fd open_unix_socket(int type, blocking mode) noexcept {
  const int flags = SOCK_CLOEXEC | (mode == blocking::no ? SOCK_NONBLOCK : 0);
  return owned_fd{::socket(AF_UNIX, type | flags, 0)};
}

owned_fd accept_unix_socket(int listener) noexcept {
  return owned_fd{::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
}

int adopt_unix_socket(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return -1;
  return ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int bind_unix_socket(int fd, const unix_address& address) noexcept {
  // Linux makes the file with the mode of the socket's own inode. Other than umask(), that
  // concerns no file that another thread happens to make.
  if (!address.abstract() && ::fchmod(fd, S_IRUSR | S_IWUSR) != 0)
    return -1;
  return ::bind(fd, address.data(), address.length());
}

int identify_senders(int fd, bool wanted) noexcept {
  const int value = wanted ? 1 : 0;
  return ::setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &value, sizeof value);
}

ssize_t send_ranges(int fd, std::span<const iovec> ranges) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(ranges.data());
  message.msg_iovlen = std::min(ranges.size(), link::max_iovecs);
  return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

peer_identity identify_peer(int fd) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      peer.uid == static_cast<uid_t>(-1))
    return {};
  if (peer.pid == 0) // of another PID namespace
    return {std::nullopt, peer.uid};
  return {peer.pid, peer.uid};
}

std::string describe_peer(int fd) {
  const auto peer = identify_peer(fd);
  if (!peer.uid)
    return "unknown";
  return peer.pid ? fmt::format("pid {}, uid {}", *peer.pid, *peer.uid)
                  : fmt::format("uid {}", *peer.uid);
}

} // namespace vmswitch
