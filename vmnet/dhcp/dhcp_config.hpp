#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/error.hpp"
#include "transport/frame/mac_address.hpp"
#include "vmnet/host_config.hpp"
#include "vmnet/ipv4.hpp"

namespace vmswitch {

/// Addresses from first to last, both included.
struct dhcp_range {
  ipv4_address first;
  ipv4_address last;

  bool contains(ipv4_address address) const noexcept { return address >= first && address <= last; }
  std::uint32_t size() const noexcept { return last.value - first.value + 1; }
  friend bool operator==(dhcp_range, dhcp_range) = default;
};

/// An address, a name, or both, for the VM with this MAC address. A reserved address need not lie
/// in the range.
struct dhcp_reservation {
  mac_address mac;
  std::optional<ipv4_address> address;
  std::string name; // empty: none
  friend bool operator==(const dhcp_reservation&, const dhcp_reservation&) = default;
};

/// An option that is sent as it is (RFC 2132): 1 to 255 bytes.
struct dhcp_option {
  std::uint8_t code = 0;
  std::string value;
  friend bool operator==(const dhcp_option&, const dhcp_option&) = default;
};

/// What the DHCP server of a network is told. Validated where it is parsed.
struct dhcp_config {
  bool enabled = true;             // means nothing in a network without a gateway
  std::optional<dhcp_range> range; // none: default_dhcp_range()
  std::chrono::seconds lease_time{86400};
  std::string domain;                           // option 15; empty: that of our DNS server
  std::vector<std::string> search;              // option 119
  std::optional<std::vector<ipv4_address>> dns; // none: the network's name server
  std::optional<std::string> lease_file;        // none: leases are forgotten with the process
  std::vector<dhcp_option> options;
  std::vector<dhcp_reservation> reservations;

  static constexpr std::int64_t shortest_lease = 10; // seconds
  static constexpr std::int64_t longest_lease = 365 * 86400;
  static constexpr std::size_t most_reservations = 4096;
  static constexpr std::size_t most_options = 32;
  static constexpr std::size_t most_search = 64;
  static constexpr std::size_t most_dns = 8;
  friend bool operator==(const dhcp_config&, const dhcp_config&) = default;
};

/// What it comes to in a certain network: nothing is left to a default.
struct dhcp_settings {
  ipv4_subnet subnet;
  ipv4_address gateway; // also the router that clients are told, and the server's identifier
  std::vector<ipv4_address> excluded; // never lent: gateway, name server
  dhcp_range range;
  std::chrono::seconds lease_time{86400};
  std::uint32_t mtu = 1500;
  std::vector<ipv4_address> dns;
  std::string domain;
  std::vector<std::string> search;
  std::vector<dhcp_option> options;
  std::vector<dhcp_reservation> reservations;
};

/// The widest row of host addresses without gateway and name server: .4 to .254 in a /24 with its
/// gateway at .1. @pre check_host_config(host)
dhcp_range default_dhcp_range(const host_config& host);

/// The network's name server, where there is one: ours at the gateway, else libslirp's.
std::vector<ipv4_address> default_dhcp_dns(const host_config& host);

/// @pre check_host_config(host), check_dhcp_config(host, dhcp)
dhcp_settings resolve_dhcp(const host_config& host, const dhcp_config& dhcp);

/// Whether the network has the server. It needs a gateway to answer from.
bool serves_dhcp(const host_config& host, const dhcp_config& dhcp);

/// The parts, so that each mistake can be reported where it stands. Errors say what would be right.
result<void> check_dhcp_range(const host_config& host, const dhcp_range& range);
result<void> check_reserved_address(const host_config& host, ipv4_address address);
/// Refuses codes that the server sets by itself or from another key.
result<void> check_dhcp_option_code(std::int64_t code);
/// A host name: letters, digits and '-', at most 63 (RFC 1123, 2.1).
result<void> check_host_name(std::string_view name);
/// Host names with dots between, at most 253 characters.
result<void> check_domain_name(std::string_view name);
/// Range and reservations together: for where there is no place to report.
result<void> check_dhcp_config(const host_config& host, const dhcp_config& dhcp);

} // namespace vmswitch
