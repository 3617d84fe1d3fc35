#include "tests/vmnet/dns/loopback_dns.hpp"

#include <array>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace vmswitch::test {

namespace {

struct any_address {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

any_address address_of(const std::string& text, std::uint16_t port) {
  any_address made;
  if (text.find(':') == std::string::npos) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&made.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    REQUIRE(::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1);
    made.size = sizeof *v4;
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&made.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    REQUIRE(::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1);
    made.size = sizeof *v6;
  }
  return made;
}

std::uint16_t port_of(int fd) {
  any_address bound;
  REQUIRE(::getsockname(fd, bound.get(), &bound.size) == 0);
  // At the same place in both families.
  return ntohs(reinterpret_cast<sockaddr_in*>(&bound.storage)->sin_port);
}

} // namespace

bool is_readable(int fd, int milliseconds) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, milliseconds) == 1;
}

loopback_dns::loopback_dns(const char* address) : address_{address} {
  // A port that is free for UDP need not be for TCP.
  for (int i = 0; i < 20 && !tcp_; ++i) {
    auto wanted = address_of(address_, 0);
    udp_ = owned_fd{::socket(wanted.storage.ss_family, SOCK_DGRAM, 0)};
    REQUIRE(::bind(udp_.get(), wanted.get(), wanted.size) == 0);
    port_ = port_of(udp_.get());
    owned_fd tcp{::socket(wanted.storage.ss_family, SOCK_STREAM, 0)};
    auto same = address_of(address_, port_);
    if (::bind(tcp.get(), same.get(), same.size) == 0 && ::listen(tcp.get(), 8) == 0)
      tcp_ = std::move(tcp);
  }
  REQUIRE(tcp_);
}

bool loopback_dns::is_asked() const {
  return is_readable(udp_.get()) || is_readable(tcp_.get());
}

int loopback_dns::serve(const std::function<dns_bytes(const dns_bytes&, bool)>& answer) {
  int served = 0;
  while (is_readable(udp_.get())) {
    any_address from;
    dns_bytes question(4096);
    const auto got =
        ::recvfrom(udp_.get(), question.data(), question.size(), 0, from.get(), &from.size);
    REQUIRE(got > 0);
    question.resize(static_cast<std::size_t>(got));
    const auto reply = answer(question, false);
    if (!reply.empty())
      REQUIRE(::sendto(udp_.get(), reply.data(), reply.size(), 0, from.get(), from.size) > 0);
    ++served;
  }
  if (is_readable(tcp_.get()))
    peer_ = owned_fd{::accept(tcp_.get(), nullptr, nullptr)};
  if (peer_ && is_readable(peer_.get())) {
    std::array<std::byte, 4096> input;
    const auto got = ::recv(peer_.get(), input.data(), input.size(), 0);
    if (got <= 2) {
      peer_.reset();
      return served;
    }
    const auto reply = answer(dns_bytes{input.begin() + 2, input.begin() + got}, true);
    dns_bytes framed;
    add_u16(framed, static_cast<unsigned>(reply.size()));
    framed.insert(framed.end(), reply.begin(), reply.end());
    REQUIRE(::send(peer_.get(), framed.data(), framed.size(), MSG_NOSIGNAL) > 0);
    ++served;
  }
  return served;
}

} // namespace vmswitch::test
