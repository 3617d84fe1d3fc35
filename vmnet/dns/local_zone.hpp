#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vmnet/dhcp/lease_table.hpp"
#include "vmnet/dns/dns_config.hpp"
#include "vmnet/dns/lease_names.hpp"
#include "vmnet/service_report.hpp"

namespace vmswitch {

/// What the network answers by itself, and never asks anybody else.
///
/// Theory of operation. That is: everything within the network's domain; the reverse names of the
/// subnet and of its IPv6 prefix; exactly the names of records outside of the domain (not their
/// siblings or children); and addresses of names of a single label, which are taken as if they were
/// within the domain. A name that does not exist there is NXDOMAIN, one that exists, or has others
/// below it, without the type in question an empty answer (NODATA), both with an SOA record that
/// keeps clients from remembering it for long: the VM may come any second.
///
/// The address of a name is, in this order, the gateway's, that of a record in the configuration,
/// of a reservation (a VM with a reserved address has its name whether it runs or not), of a lease.
/// So no VM takes another one's name by calling itself so.
class local_zone {
public:
  using time_point = lease_table::time_point;

  static constexpr std::uint32_t lease_ttl = 10, fixed_ttl = 60, negative_ttl = 5; // seconds

  explicit local_zone(const dns_settings& settings);
  local_zone(const local_zone&) = delete;
  local_zone& operator=(const local_zone&) = delete;

  /// The answer, or nothing if another server is to be asked. `leases` may be null.
  std::optional<dns_bytes> answer(const dns_query& query, const lease_table* leases,
                                  time_point now);

  /// All names, in no order.
  std::vector<dns_entry> entries(const lease_table* leases, time_point now);

private:
  struct found {
    std::vector<dns_resource> resources;
    std::uint32_t ttl = fixed_ttl;
    bool has_children = false;
  };
  struct fixed {
    dns_resource resource;
    const char* origin;
  };

  void add(const dns_name& name, dns_resource resource, const char* origin);
  void add_backward(std::string_view origin);
  bool has_fixed_address(const dns_name& name) const;
  std::optional<dns_name> zone_of(const dns_name& name) const;
  found find(const dns_name& name, const lease_table* leases, time_point now);
  void find_lease(const dns_name& name, const lease_table& leases, time_point now, found& into);
  std::string soa() const;

  dns_settings settings_;
  dns_name reverse6_; // of the prefix; the root: none
  std::unordered_map<dns_name, std::vector<fixed>, dns_name_hash> fixed_;
  std::unordered_set<dns_name, dns_name_hash> parents_;   // of names in fixed_
  std::unordered_map<std::string, mac_address> reserved_; // labels without a reserved address
  lease_names names_;
};

} // namespace vmswitch
