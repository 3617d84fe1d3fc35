#include "tests/vmnet/loopback_peer.hpp"

#include <array>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace vmswitch::test {

namespace {

bool wait_readable(int fd, int milliseconds) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, milliseconds) == 1;
}

constexpr int patience = 5000;

} // namespace

loopback_peer::loopback_peer(kind what)
    : socket_{::socket(AF_INET, what == kind::udp ? SOCK_DGRAM : SOCK_STREAM, 0)} {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_.get(), generic, size) == 0 &&
      (what == kind::udp || ::listen(socket_.get(), 8) == 0) &&
      ::getsockname(socket_.get(), generic, &size) == 0)
    port_ = ntohs(address.sin_port);
}

owned_fd loopback_peer::accept() {
  if (!wait_readable(socket_.get(), patience))
    return {};
  return owned_fd{::accept(socket_.get(), nullptr, nullptr)};
}

bool loopback_peer::has_visitor() const {
  return wait_readable(socket_.get(), 0);
}

bool loopback_peer::echo_datagram() {
  if (!wait_readable(socket_.get(), patience))
    return false;
  std::array<char, 65536> buffer;
  sockaddr_in from{};
  socklen_t size = sizeof from;
  auto* generic = reinterpret_cast<sockaddr*>(&from);
  const auto got = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0, generic, &size);
  if (got < 0)
    return false;
  const auto answer = "echo " + std::string(buffer.data(), static_cast<std::size_t>(got));
  return ::sendto(socket_.get(), answer.data(), answer.size(), 0, generic, size) ==
         static_cast<ssize_t>(answer.size());
}

std::string loopback_peer::receive(const owned_fd& connection, std::size_t bytes) {
  std::string all;
  std::array<char, 4096> buffer;
  while (all.size() < bytes && wait_readable(connection.get(), patience)) {
    const auto got = ::recv(connection.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0)
      break;
    all.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return all;
}

bool loopback_peer::sees_end(const owned_fd& connection) {
  std::array<char, 4096> buffer;
  while (wait_readable(connection.get(), patience)) {
    const auto got = ::recv(connection.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0)
      return got == 0;
  }
  return false;
}

} // namespace vmswitch::test
