#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "transport/error.hpp"
#include "vmnet/ipv4.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

enum class host_mode : std::uint8_t {
  user,     ///< user-mode NAT (libslirp), needs no privilege
  isolated, ///< VMs reach each other only
  host,     ///< the host joins by a network device (TAP): VMs and host reach each other
  shared,   ///< the same, and the host's kernel forwards and translates to the world (NAT)
  bridged,  ///< VMs are on the network behind a bridge of the host
};

/// What the host's side of one network is to be. Validated where it is parsed.
struct host_config {
  host_mode mode = host_mode::user;
  ipv4_subnet subnet{{0xc0a86900}, 24}; // 192.168.105.0/24
  ipv4_address gateway{0xc0a86901};     // a host address of the subnet
  std::uint32_t mtu = 1500;             // 576..65520
  bool ipv6 = true;                     // router advertisements and NAT for a /64
  bool host_loopback = true;            // the gateway address leads to the host's loopback
  std::string name = "default";         // the network's: its device and rules are named after it
  std::string interface;     // a TAP to make or use, empty: chosen; `bridged`: the bridge
  std::optional<int> tap_fd; // an inherited descriptor of a TAP, in place of all that
  std::string bridge_helper; // program that gives us a TAP in a bridge; empty: QEMU's
  /// That /64, out of fd00::/8. Without: fd00::/64, or where there is a TAP one that follows from
  /// name and subnet.
  std::optional<ipv6_address> ipv6_prefix{};
  /// Of our DNS server, which is at the gateway where `subnet` is ours; empty: there is none.
  std::string dns_domain = "vm.internal";
  friend bool operator==(const host_config&, const host_config&) = default;
};

/// Whether the host joins by a TAP device.
constexpr bool uses_tap(host_mode mode) noexcept {
  return mode == host_mode::host || mode == host_mode::shared || mode == host_mode::bridged;
}
/// Whether `subnet` and `gateway` are ours to give.
constexpr bool owns_subnet(host_mode mode) noexcept {
  return mode != host_mode::isolated && mode != host_mode::bridged;
}

/// Whether a host interface can be made of it. The error says what would be right. Subnet and
/// gateway count where they are ours.
result<void> check_host_config(const host_config& config);

} // namespace vmswitch
