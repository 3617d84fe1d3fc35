#include "vmnet/dns/ares_sockets.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <ares.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

namespace vmswitch {

namespace {

ares_socket_t make_socket(int family, int type, int protocol, void*) {
  const int fd = ::socket(family, type, protocol);
  if (fd >= 0 && (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
                  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) != 0)) {
    ::close(fd);
    return -1;
  }
  return fd;
}

int close_socket(ares_socket_t fd, void*) {
  return ::close(fd);
}

int connect_socket(ares_socket_t fd, const sockaddr* address, ares_socklen_t size, void* scopes) {
  sockaddr_in6 scoped{};
  if (address->sa_family != AF_INET6 || size < sizeof scoped)
    return ::connect(fd, address, size);
  std::memcpy(&scoped, address, sizeof scoped);
  std::array<std::uint8_t, 16> octets;
  std::memcpy(octets.data(), &scoped.sin6_addr, octets.size());
  scoped.sin6_scope_id = static_cast<const ares_scopes*>(scopes)->scope_of(octets);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&scoped), sizeof scoped);
}

ares_ssize_t receive(ares_socket_t fd, void* into, std::size_t size, int flags, sockaddr* from,
                     ares_socklen_t* from_size, void*) {
  const auto got = ::recvfrom(fd, into, size, flags, from, from_size);
  // c-ares compares addresses, scope included, with those that it was given.
  if (got >= 0 && from != nullptr && from->sa_family == AF_INET6)
    reinterpret_cast<sockaddr_in6*>(from)->sin6_scope_id = 0;
  return got;
}

ares_ssize_t send(ares_socket_t fd, const iovec* parts, int count, void*) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts);
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(count);
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

constexpr ares_socket_functions functions{make_socket, close_socket, connect_socket, receive, send};

} // namespace

ares_scopes::ares_scopes(const std::vector<dns_endpoint>& servers) {
  for (const auto& one : servers) {
    const auto percent = one.address.find('%');
    std::array<std::uint8_t, 16> octets;
    if (percent != std::string::npos &&
        ::inet_pton(AF_INET6, one.address.substr(0, percent).c_str(), octets.data()) == 1)
      scopes_[octets] = ::if_nametoindex(one.address.substr(percent + 1).c_str());
  }
}

void ares_scopes::apply_to(ares_channeldata* channel) {
  ares_set_socket_functions(channel, &functions, this);
}

std::uint32_t ares_scopes::scope_of(const std::array<std::uint8_t, 16>& address) const {
  const auto found = scopes_.find(address);
  return found == scopes_.end() ? 0 : found->second;
}

} // namespace vmswitch
