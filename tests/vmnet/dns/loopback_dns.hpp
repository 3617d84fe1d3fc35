#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "transport/owned_fd.hpp"
#include "vmnet/dns/dns_endpoint.hpp"
#include "vmnet/dns/dns_wire.hpp"

namespace vmswitch::test {

/// Another DNS server: UDP and TCP on one loopback port of the system's choice. It works when the
/// test says so, so that what it does not answer is not answered.
class loopback_dns {
public:
  /// `address` is "127.0.0.1" or "::1".
  explicit loopback_dns(const char* address = "127.0.0.1");

  dns_endpoint endpoint() const { return {address_, port_}; }
  /// Answers all that waits by UDP, and one connection, and returns how many questions those were.
  int serve(const std::function<dns_bytes(const dns_bytes& question, bool by_tcp)>& answer);
  /// Whether a question waits.
  bool is_asked() const;

private:
  std::string address_;
  std::uint16_t port_ = 0;
  owned_fd udp_, tcp_, peer_;
};

/// True if the descriptor becomes readable within so many milliseconds.
bool is_readable(int fd, int milliseconds = 0);

} // namespace vmswitch::test
