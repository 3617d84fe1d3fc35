#include "vmnet/forward/socket_address.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <netinet/in.h>

#include "vmnet/forward/udp_messages.hpp"

namespace vmswitch {

namespace {

socket_address told_by(int (*ask)(int, sockaddr*, socklen_t*), int socket) noexcept {
  socket_address found;
  found.size = sizeof found.storage;
  if (ask(socket, found.get(), &found.size) != 0)
    found.size = 0;
  return found;
}

} // namespace

socket_address::socket_address(const ip_address& address, std::uint16_t port) {
  if (const auto* four = std::get_if<ipv4_address>(&address)) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(port);
    made.sin_addr.s_addr = htonl(four->value);
    std::memcpy(&storage, &made, size = sizeof made);
  } else {
    sockaddr_in6 made{};
    made.sin6_family = AF_INET6;
    made.sin6_port = htons(port);
    const auto& octets = std::get<ipv6_address>(address).octets;
    std::memcpy(&made.sin6_addr, octets.data(), octets.size());
    std::memcpy(&storage, &made, size = sizeof made);
  }
}

socket_address socket_address::of(int socket) noexcept {
  return told_by(::getsockname, socket);
}

socket_address socket_address::of_peer(int socket) noexcept {
  return told_by(::getpeername, socket);
}

std::optional<ip_address> socket_address::address() const noexcept {
  if (size == 0)
    return std::nullopt;
  if (storage.ss_family == AF_INET) {
    sockaddr_in four;
    std::memcpy(&four, &storage, sizeof four);
    return ip_address{ipv4_address{ntohl(four.sin_addr.s_addr)}};
  }
  if (storage.ss_family != AF_INET6)
    return std::nullopt;
  sockaddr_in6 six;
  std::memcpy(&six, &storage, sizeof six);
  ipv6_address found;
  std::memcpy(found.octets.data(), &six.sin6_addr, found.octets.size());
  return ip_address{found};
}

std::uint16_t socket_address::port() const noexcept {
  sockaddr_in any; // where both families have it
  std::memcpy(&any, &storage, sizeof any);
  return ntohs(any.sin_port);
}

bool operator==(const socket_address& a, const socket_address& b) noexcept {
  return a.size == b.size && std::memcmp(&a.storage, &b.storage, a.size) == 0;
}

bool is_bound_to(int socket, const forward_listen& place) noexcept {
  constexpr std::size_t family_and_port = 4;
  const socket_address wanted{place.address, place.port};
  const auto found = socket_address::of(socket);
  return found.size == wanted.size &&
         std::memcmp(&found.storage, &wanted.storage,
                     is_unspecified(place.address) ? family_and_port : wanted.size) == 0;
}

tl::unexpected<error> cannot_listen(const forward_listen& listen, int code) {
  const auto where = "cannot listen on " + to_string(listen) + ": ";
  const auto port = std::to_string(listen.port);
  switch (code) {
  case EADDRINUSE:
    return fail(where + "another program does (ss -anp 'sport = :" + port +
                    "' tells which). Choose another port, or end that program",
                code);
  case EACCES:
  case EPERM:
    return fail(where +
                    "the port is privileged. Choose one from 1024 up, or allow it to everybody "
                    "(sysctl net.ipv4.ip_unprivileged_port_start=" +
                    port +
                    "), or give the daemon the capability CAP_NET_BIND_SERVICE (one that root "
                    "starts keeps it if its configuration has such a forward then)",
                code);
  case EADDRNOTAVAIL:
    return fail(where + "this is no address of this host (ip address tells them). Choose one that "
                        "is, or 127.0.0.1 or 0.0.0.0",
                code);
  case EAFNOSUPPORT:
    return fail(where + "this host has no IPv6. Choose an IPv4 address", code);
  default:
    return fail_errno("cannot listen on " + to_string(listen), code);
  }
}

result<owned_fd> bind_forward(const forward_listen& listen) {
  const bool is_tcp = listen.protocol == forward_protocol::tcp;
  const bool is_six = !is_ipv4(listen.address);
  owned_fd made{::socket(is_six ? AF_INET6 : AF_INET, is_tcp ? SOCK_STREAM : SOCK_DGRAM, 0)};
  if (!made)
    return cannot_listen(listen, errno);
  ::fcntl(made.get(), F_SETFD, FD_CLOEXEC);
  ::fcntl(made.get(), F_SETFL, O_NONBLOCK);
  const int on = 1;
  if (is_tcp)
    ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (is_six)
    ::setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (!is_tcp && is_unspecified(listen.address))
    want_local_address(made.get()); // before the first datagram can come
  const socket_address place{listen.address, listen.port};
  if (::bind(made.get(), place.get(), place.size) != 0)
    return cannot_listen(listen, errno);
  return made;
}

} // namespace vmswitch
