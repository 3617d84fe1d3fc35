#pragma once

#include <cstdint>
#include <string>

#include "transport/owned_fd.hpp"

namespace vmswitch::test {

/// A socket on 127.0.0.1 with a port of the system's choice: what VMs talk to through the NAT.
/// Every wait ends after five seconds and then counts as failure.
class loopback_peer {
public:
  enum class kind { tcp_listener, udp };
  explicit loopback_peer(kind what);

  std::uint16_t port() const noexcept { return port_; }
  /// Accepts a connection. An empty descriptor if none comes.
  owned_fd accept();
  /// True if a connection or datagram waits at this moment.
  bool has_visitor() const;
  /// Receives one datagram and sends it back with "echo " before it.
  bool echo_datagram();

  static std::string receive(const owned_fd& connection, std::size_t bytes);
  /// Receives until the other side closes. False if it does not.
  static bool sees_end(const owned_fd& connection);

private:
  owned_fd socket_;
  std::uint16_t port_ = 0;
};

} // namespace vmswitch::test
