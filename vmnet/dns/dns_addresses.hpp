#pragma once

#include <optional>
#include <vector>

#include "transport/frame/mac_address.hpp"
#include "vmnet/host_config.hpp"
#include "vmnet/ip_packet.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

/// The IPv6 address of a network's gateway: of libslirp's, or of the host's device. Nothing where
/// there is no IPv6.
std::optional<ipv6_address> network_gateway6(const host_config& host);

/// Where VMs send DNS queries to: the gateway; in `user` networks also the address that libslirp's
/// own forwarder has, since it is announced to VMs, and may be written in them.
std::vector<packet_address> dns_server_addresses(const host_config& host);

/// The MAC addresses that such frames go to, besides the gateway's.
std::vector<mac_address> dns_server_macs(const host_config& host);

} // namespace vmswitch
