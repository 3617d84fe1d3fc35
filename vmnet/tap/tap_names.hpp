#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "transport/frame/mac_address.hpp"
#include "vmnet/host_config.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

// What a TAP network is called in the kernel. Everything follows from the configuration, so that a
// network looks the same after a restart, and what a killed daemon left is known by its name. Pure.

/// The longest name of a network device (IFNAMSIZ in linux/if.h, without its NUL).
inline constexpr std::size_t longest_device_name = 15;

/// How many names are tried when others, of other daemons, are in use.
inline constexpr int device_name_choices = 8;

/// The `choice`-th name for the device of a network: "vms-default", "vms-default-2". A long name is
/// cut, and told from others by a hash. @pre 0 <= choice < device_name_choices
std::string device_name_for(std::string_view network, int choice);

/// Locally administered, from the device's name. It begins with fe, as libvirt's do, so that a
/// bridge, which takes the lowest address of its ports, keeps its own.
mac_address device_mac_for(std::string_view device);

/// A /64 out of fd00::/8 that follows from a text (RFC 4193, whose random number is a hash here).
ipv6_address ula_prefix_from(std::string_view identity);
/// The network's /64: as configured, or else from its name and subnet.
ipv6_address ula_prefix_for(const host_config& config);

/// The nftables table (family inet) of a device, and back; nothing for a table that is not ours.
std::string table_name_for(std::string_view device);
std::optional<std::string> device_of_table(std::string_view table);

} // namespace vmswitch
