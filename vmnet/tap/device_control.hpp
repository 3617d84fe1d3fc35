#pragma once

#include <string>
#include <string_view>

#include "vmnet/tap/device_plan.hpp"

namespace vmswitch {

// What the kernel is asked about network devices, and told: ioctls and one netlink message, for
// which no library is worth its weight. Names are those of this thread's network namespace.
// Errors carry errno; EPERM means that CAP_NET_ADMIN is missing.

/// Whether this thread has CAP_NET_ADMIN. What it may do the kernel decides; this spares asking.
bool has_net_admin();

bool device_exists(const std::string& name);

/// State of a device that exists. `ours` and `bridge_mtu` are the caller's to set.
device_state look_at_device(const std::string& name);

/// The MAC address of a device; the null address if it has none.
mac_address device_mac(const std::string& name);

/// The link-local IPv6 address of a device; unspecified if it has none.
ipv6_address device_link_local(const std::string& name);

/// The device, other than `except`, that has an IPv4 address which overlaps with the subnet, and
/// that address: "eth0 (192.168.0.7/16)". Empty if there is none.
std::string overlapping_device(const ipv4_subnet& subnet, const std::string& except);

/// Whether the name is that of a bridge.
bool is_bridge(const std::string& name);

/// Does one step.
result<void> apply_step(const std::string& device, const device_step& step);

/// What a step would replace, for undo_of(): the MTU, or the value of a setting.
std::string value_before(const std::string& device, const device_step& step);

/// Reads and writes /proc/sys/net/FAMILY/conf/DEVICE/KEY. Reading gives "" if there is no such
/// thing.
std::string read_setting(std::string_view family, std::string_view device, std::string_view key);
result<void> write_setting(std::string_view family, std::string_view device, std::string_view key,
                           std::string_view value);

} // namespace vmswitch
