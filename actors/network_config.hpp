#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/listen_config.hpp"
#include "vmnet/dhcp/dhcp_config.hpp"
#include "vmnet/dns/dns_config.hpp"
#include "vmnet/forward/forward_rule.hpp"
#include "vmnet/host_config.hpp"

namespace vmswitch {

/// The bounds of one network. Every one of them has a counter or a log line that names it.
struct network_limits {
  std::size_t ports = 4096; // attachments at one time
  std::size_t macs = 16384; // learned addresses
  std::size_t macs_per_port = 1024;
  std::size_t slab_budget = 8;      // slabs (128 KiB) that one sender may have in flight
  std::size_t egress_bursts = 4096; // entries of one egress queue
  std::chrono::milliseconds egress_deadline{50};
  std::chrono::seconds mac_ageing{300};
  friend bool operator==(const network_limits&, const network_limits&) = default;
};

/// One network: a switch, its host interface and its listeners. Validated where it is parsed.
struct network_config {
  std::string name = "default";
  host_config host;
  network_limits limits;
  std::vector<listen_config> listeners;
  dhcp_config dhcp;
  dns_config dns; // host.dns_domain is its domain if it is enabled, else empty
  std::vector<forward_rule> forwards;
  friend bool operator==(const network_config&, const network_config&) = default;
};

} // namespace vmswitch
