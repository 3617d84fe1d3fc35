#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/error.hpp"
#include "vmnet/dhcp/dhcp_config.hpp"
#include "vmnet/dns/dns_endpoint.hpp"
#include "vmnet/dns/dns_message.hpp"
#include "vmnet/host_config.hpp"

namespace vmswitch {

/// A record as it is written in a configuration.
struct dns_record {
  std::string name; ///< complete, or one label that is meant under the network's domain; of a PTR
                    ///< record also an address
  dns_type type = dns_type::a;
  std::string value; ///< as in a zone file: "10 mail.vm.internal"; of a TXT record the bare text
  friend bool operator==(const dns_record&, const dns_record&) = default;
};

/// What the DNS server of a network is told. Validated where it is parsed.
struct dns_config {
  bool enabled = true; // means nothing in a network without a gateway
  std::string domain = "vm.internal";
  /// Where names outside are asked for; none: the host's resolvers; empty: nowhere.
  std::optional<std::vector<dns_endpoint>> upstream;
  std::size_t cache_size = 1000; // answers; 0: none
  std::vector<dns_record> records;

  static constexpr std::size_t most_records = 4096;
  static constexpr std::int64_t largest_cache = 100'000;
  friend bool operator==(const dns_config&, const dns_config&) = default;
};

/// Whether the network has the server. It needs a gateway to answer from.
bool serves_dns(const host_config& host, const dns_config& dns);

/// The data of a record in wire form, and as a person reads them.
struct dns_resource {
  dns_type type = dns_type::a;
  std::string data;
  std::string text;
  friend bool operator==(const dns_resource&, const dns_resource&) = default;
};
struct dns_named_resource {
  dns_name name;
  dns_resource resource;
};

/// What it comes to in a certain network: nothing is left to a default.
struct dns_settings {
  dns_name domain;
  ipv4_subnet subnet;
  ipv4_address gateway;
  std::optional<ipv6_address> gateway6; ///< of a /64 that is the network's own
  std::vector<dns_named_resource> records;
  std::vector<dhcp_reservation> reservations; // those with address and name
  std::optional<std::vector<dns_endpoint>> upstream;
  std::size_t cache_size = 0;
};

/// @pre check_host_config(host), check_dns_records(dns)
dns_settings resolve_dns(const host_config& host, const dhcp_config& dhcp, const dns_config& dns);

/// "A", in any letter case, if records of this type can be written in a configuration.
result<dns_type> parse_dns_record_type(std::string_view text);
/// "vm.internal": at least two labels, so that it is nobody's whole top-level domain.
result<void> check_dns_domain(std::string_view domain);
/// The parts of a record. Errors say what would be right.
result<dns_name> dns_record_name(const dns_record& record, std::string_view domain);
result<dns_resource> dns_record_data(const dns_record& record);
/// For each record, in order: both, and what records may not do together. A CNAME stands alone, and
/// leads to a name of the network or of another record, since no other server is asked for where it
/// leads.
std::vector<result<void>> check_dns_records(const dns_config& dns);

/// Resources that the program makes itself.
dns_resource address_resource(ipv4_address address);
dns_resource address_resource(const ipv6_address& address);
dns_resource pointer_resource(const dns_name& name);

} // namespace vmswitch
