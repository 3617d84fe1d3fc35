#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vmnet/dhcp/dhcp_config.hpp"
#include "vmnet/dhcp/dhcp_server.hpp"
#include "vmnet/dhcp/lease_table.hpp"
#include "vmnet/forward/forward_rule.hpp"

namespace vmswitch {

/// Which VM a forward leads to now, and its address.
struct found_vm {
  ip_address address;
  mac_address mac; // null where an address was asked for
  friend bool operator==(const found_vm&, const found_vm&) = default;
};

/// Finds the VM of a forward.
///
/// A MAC address leads to its lease, or to the address that is reserved for it. A lease that has
/// ended by time counts until somebody else gets the address, one that was given back does not.
/// A name is first that of a reservation, which no VM can take over, then what a VM with a lease
/// calls itself; letter case does not matter. If several do, the one found before (`last`) stays,
/// else the one that was heard of last is taken.
class vm_lookup {
public:
  /// `leases` may be null, and must outlive it.
  vm_lookup(const std::vector<dhcp_reservation>& reservations, const lease_table* leases);

  std::optional<found_vm> find(const forward_target& target,
                               const std::optional<found_vm>& last) const;

  /// Whether find() may give something else than `last` after this. Much cheaper than find().
  bool concerns(const dhcp_event& event, const forward_target& target,
                const std::optional<found_vm>& last) const;

private:
  std::optional<found_vm> find(mac_address vm) const;
  std::optional<found_vm> find_named(std::string_view name,
                                     const std::optional<found_vm>& last) const;
  const mac_address* reserved_for(const std::string& name) const;

  const lease_table* leases_;
  std::unordered_map<std::string, mac_address> names_; // of reservations, in small letters
  std::unordered_map<std::uint64_t, ipv4_address> reserved_;
};

} // namespace vmswitch
