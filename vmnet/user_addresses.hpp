#pragma once

#include <cstdint>

#include "transport/frame/mac_address.hpp"
#include "vmnet/host_config.hpp"

namespace vmswitch {

/// The addresses of a `user` network that follow from its configuration. All functions expect a
/// subnet of /8 to /27 and a gateway inside it, as check_host_config demands.

/// Where VMs send DNS queries: the third address of the subnet, or the fourth if the third is the
/// gateway.
ipv4_address nameserver_for(const host_config& config);

/// The MAC address that libslirp answers with for one of its IPv4 addresses: 52:55, then the
/// address (special_ethaddr in libslirp's slirp.c).
mac_address user_mac_for(ipv4_address address);

/// IPv6 on the virtual network needs links of at least 1280 bytes (RFC 8200, 5): off below that.
bool has_ipv6(const host_config& config);

/// The /64 that VMs make IPv6 addresses in: as configured, or else fd00::/64.
ipv6_address user_prefix_for(const host_config& config);

/// What libslirp itself is on that network; the same numbers in fe80::/64. Its MAC addresses are
/// 52:56, then the last four octets.
inline constexpr std::uint8_t ipv6_gateway_number = 2;
inline constexpr std::uint8_t ipv6_nameserver_number = 3;

} // namespace vmswitch
