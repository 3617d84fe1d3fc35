#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "vmnet/host_config.hpp"
#include "vmnet/ip_address.hpp"
#include "vmnet/ip_packet.hpp"

namespace vmswitch {

/// The connections whose forward has gone, until libslirp lets go of them.
///
/// Theory of operation. The socket is shut down. To libslirp it looks as if the client had ended,
/// so it ends the VM's side, and is done when the VM has ended as well. It does not look at the
/// socket, though, after the client has ended by itself, or while the VM takes nothing; and a VM
/// need not end. So what is still there after `patience` is reset (see forged_resets): the VM
/// learns of it with the next segment that it sends.
class user_endings {
public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds patience{2};

  struct connection {
    int fd;
    std::uint64_t serial; ///< see user_sockets
    ip_path from_vm;      ///< as forged_resets wants it
  };

  /// @pre check_host_config(config)
  explicit user_endings(const host_config& config);

  /// Shuts down the socket of a connection with this port of one of these addresses.
  void begin(int fd, std::uint64_t serial, std::span<const ip_address> vm, std::uint16_t vm_port,
             time_point now);
  /// When take_overdue() has something next.
  std::optional<time_point> due() const;
  std::optional<connection> take_overdue(time_point now);

private:
  struct waiting {
    time_point due;
    connection which;
  };
  packet_address as_seen_by_vm(const ip_address& client) const;

  const mac_address gateway_mac_;
  const packet_address gateway_, ipv6_gateway_;
  std::deque<waiting> waiting_; // the first is due first
};

} // namespace vmswitch
