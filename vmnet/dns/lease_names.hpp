#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "vmnet/dhcp/lease_table.hpp"

namespace vmswitch {

/// Which VM has which name, from the names that clients send with their requests.
///
/// Theory of operation. The table knows addresses and clients; this is the way from a name to a
/// client, made anew when the table has changed or a lease has run out. Of several VMs with one
/// name the one that had it before keeps it, else the one with the lowest address. Of a large table
/// that is not done more often than every `refresh_interval`, since VMs decide how often it
/// changes; meanwhile a new name is not found, but none that is wrong.
class lease_names {
public:
  using time_point = lease_table::time_point;
  static constexpr std::size_t large_table = 512;
  static constexpr std::chrono::milliseconds refresh_interval{100};

  /// `may_have` tells whether a client may have a name at all (in lower case).
  explicit lease_names(std::function<bool(const std::string& name, mac_address client)> may_have)
      : may_have_{std::move(may_have)} {}

  /// The lease of the VM with this name, in lower case; null if there is none.
  const lease_table::entry* find(const std::string& name, const lease_table& leases,
                                 time_point now);
  /// The name, in lower case, that leads to this address.
  std::optional<std::string> name_of(ipv4_address address, const lease_table& leases,
                                     time_point now);
  template <class Visit>
  void for_each(const lease_table& leases, time_point now, Visit&& visit) {
    refresh(leases, now);
    for (const auto& [name, client] : owners_)
      if (const auto* lease = lease_of(client, name, leases, now))
        visit(name, *lease);
  }

private:
  bool refresh(const lease_table& leases, time_point now);
  const lease_table::entry* lease_of(mac_address client, const std::string& name,
                                     const lease_table& leases, time_point now) const;

  std::function<bool(const std::string&, mac_address)> may_have_;
  std::unordered_map<std::string, mac_address> owners_;
  std::optional<std::uint64_t> version_; // of the table
  time_point refreshed_ = time_point::min();
};

/// ASCII letters made small.
std::string lower_case(std::string text);

} // namespace vmswitch
