#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vmnet/host_config.hpp"

namespace vmswitch {

/// Decides what libslirp gets to see of the frames that reach the host's port.
///
/// Theory of operation. libslirp was written for one guest on a wire of its own: it looks at no
/// destination MAC address and answers whatever it is given. On a switch it would take frames that
/// were flooded on their way to another VM for its own, open connections for them and reset them.
/// So only frames to its own addresses pass, and of group frames only those that it serves (ARP,
/// neighbour and router solicitation): a NAT does not forward multicast or broadcast.
///
/// A VM is hostile as well. What passes is a whole packet from an address of the network to one
/// that may be reached: not the host's loopback under its own name (127.0.0.1, ::1), which would
/// evade `host_loopback`, and not another address of the virtual network. Parts of libslirp 4.7
/// that a VM can abuse are closed, and nothing that is useful today is lost by it: TFTP, TCP
/// urgent data, IPv4 options, TCP in fragments, IPv6 fragments, ICMPv6 echo to the outside. Other
/// IPv4 fragments go to user_fragments, and the packet that they make is judged anew.
///
/// Pure: no system call, no state.
class user_filter {
public:
  enum class verdict : std::uint8_t {
    pass,
    ignore,   ///< fine, but not for the host: nothing to count
    refuse,   ///< cannot or must not be carried
    fragment, ///< of an IPv4 packet that may be for the host; its addresses are fine
  };
  /// The kind of socket for which libslirp may need a descriptor because of this frame.
  enum class socket_kind : std::uint8_t { none, tcp, udp, icmp };
  struct judgement {
    verdict what = verdict::refuse;
    socket_kind opens = socket_kind::none;
    /// For UDP: who sends, so that a flow that has its socket is known. 0 if unknown.
    std::uint64_t flow = 0;
  };

  /// @pre check_host_config(config)
  explicit user_filter(const host_config& config);

  judgement judge(std::span<const std::byte> frame) const;
  /// For what has come in fragments: no mtu holds for the whole.
  judgement judge_whole(std::span<const std::byte> frame) const;

private:
  judgement judge_frame(std::span<const std::byte> frame, std::size_t mtu) const;
  judgement judge_arp(std::span<const std::byte> packet) const;
  judgement judge_ipv4(std::span<const std::byte> packet, bool to_group) const;
  judgement judge_ipv6(std::span<const std::byte> packet) const;
  bool is_ours(ipv4_address address) const noexcept {
    return address == config_.gateway || address == nameserver_;
  }

  const host_config config_;
  const ipv4_address nameserver_;
  const bool ipv6_;
  std::uint64_t network_ = 0;                  // the upper half of our IPv6 addresses
  std::array<std::uint64_t, 4> mac_addresses_; // ours
};

} // namespace vmswitch
