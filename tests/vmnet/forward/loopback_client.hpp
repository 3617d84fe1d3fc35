#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "vmnet/forward/socket_address.hpp"

namespace vmswitch::test {

/// An address from its text, which is right.
inline ip_address address_of(const char* text) {
  return parse_ip_address(text).value();
}

/// A port on which nobody listens now.
inline std::uint16_t free_port(forward_protocol protocol = forward_protocol::tcp) {
  const owned_fd probe{
      ::socket(AF_INET, protocol == forward_protocol::tcp ? SOCK_STREAM : SOCK_DGRAM, 0)};
  const socket_address any{address_of("127.0.0.1"), 0};
  REQUIRE(::bind(probe.get(), any.get(), any.size) == 0);
  return socket_address::of(probe.get()).port();
}

/// A socket with a peer on the loopback. All waits end after five seconds, and then count as
/// failure.
class loopback_client {
public:
  loopback_client(int type, const char* address, std::uint16_t port)
      : socket_{::socket(is_ipv4(address_of(address)) ? AF_INET : AF_INET6, type, 0)} {
    const socket_address target{address_of(address), port};
    connected_ = ::connect(socket_.get(), target.get(), target.size) == 0;
  }
  explicit loopback_client(owned_fd socket) : socket_{std::move(socket)}, connected_{true} {}

  bool connected() const { return connected_; }
  int fd() const { return socket_.get(); }
  void say(const std::string& text) const {
    CHECK(::send(fd(), text.data(), text.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(text.size()));
  }
  void ends() const { ::shutdown(fd(), SHUT_WR); }
  void resets() {
    const linger now{1, 0};
    ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    socket_.reset();
  }
  /// Until that many bytes have come, or the end.
  std::string hears(std::size_t size) const {
    std::string all;
    std::array<char, 65536> buffer;
    while (all.size() < size && is_ready(POLLIN)) {
      const auto got = ::recv(fd(), buffer.data(), std::min(buffer.size(), size - all.size()), 0);
      if (got <= 0)
        break;
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  enum class ending { none, orderly, reset };
  ending sees() const {
    std::array<char, 65536> buffer;
    while (is_ready(POLLIN)) {
      const auto got = ::recv(fd(), buffer.data(), buffer.size(), 0);
      if (got <= 0)
        return got == 0 ? ending::orderly : ending::reset;
    }
    return ending::none;
  }
  bool is_ready(short events, int milliseconds = 5000) const {
    pollfd watched{fd(), events, 0};
    return ::poll(&watched, 1, milliseconds) == 1;
  }

private:
  owned_fd socket_;
  bool connected_ = false;
};

/// Whether it becomes true within five seconds.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

/// Whether somebody accepts connections at this TCP port.
inline bool is_open(std::uint16_t port) {
  return loopback_client{SOCK_STREAM, "127.0.0.1", port}.connected();
}

/// Whether somebody has this TCP port, listening or not.
inline bool is_taken(std::uint16_t port) {
  const owned_fd probe{::socket(AF_INET, SOCK_STREAM, 0)};
  const socket_address place{address_of("127.0.0.1"), port};
  return ::bind(probe.get(), place.get(), place.size) != 0;
}

} // namespace vmswitch::test
