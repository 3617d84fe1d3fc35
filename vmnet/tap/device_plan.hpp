#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vmnet/host_config.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

/// One thing that is done to a network device before it carries frames. A list of them can be
/// looked at before it is done, told to a person who has the privilege, and taken back.
struct device_step {
  enum class what : std::uint8_t {
    mac,      ///< value: the MAC address
    mtu,      ///< value: bytes
    setting,  ///< value: "ipv4/arp_ignore=1", of this device, as under /proc/sys/net
    address4, ///< value: "192.168.105.1/24"
    address6, ///< value: "fd00::1/64"
    bridge,   ///< value: the bridge that the device becomes a port of
    up,       ///< no value
  } kind;
  std::string value;
  /// The opposite: an address removed, the bridge left, the device down.
  bool undo = false;
  friend bool operator==(const device_step&, const device_step&) = default;
};

/// What is known of the device beforehand.
struct device_state {
  /// Made by us just now, so that it ends with us; else it is someone's, who had it ready.
  bool ours = true;
  bool up = false;
  std::uint32_t mtu = 1500;
  std::vector<std::pair<ipv4_address, std::uint8_t>> addresses4; // with prefix lengths
  std::vector<ipv6_address> addresses6;
  bool has_ipv6 = true;         // the kernel allows it on this device
  std::string bridge;           // that it is a port of already
  std::uint32_t bridge_mtu = 0; // of the one that it is to join
};

/// The steps for the device `name`, in order; on someone's device only what is missing. Pure.
///
/// A VM is a stranger on the same wire: the device takes no routes (router advertisements,
/// redirects) from it, answers ARP for its own address only, and believes no packet whose source is
/// elsewhere. A port of a bridge has no addresses, and the bridge's MTU: the bridge would take on a
/// smaller one.
std::vector<device_step> plan_device(const host_config& config, std::string_view name,
                                     const device_state& found);

/// Whether the network cannot work without it. Without other steps it works on a device that
/// someone had ready, if the privilege is missing.
bool is_required(const device_step& step);

/// What takes `done` back on someone's device, where `before` is the value that it replaced.
/// Nothing if there is nothing to do. Pure.
std::optional<device_step> undo_of(const device_step& done, std::string_view before);

/// The command that does a step: "ip link set dev vms-default up". Pure.
std::string command_for(std::string_view device, const device_step& step);

/// "192.168.105.1/24", the address of the host in its network.
std::string gateway_with_prefix(const host_config& config);

/// The host's IPv6 address: the first of the network's prefix. Nothing where there is no IPv6.
std::optional<ipv6_address> gateway6_for(const host_config& config);

} // namespace vmswitch
