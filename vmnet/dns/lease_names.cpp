#include "vmnet/dns/lease_names.hpp"

#include <algorithm>
#include <vector>

namespace vmswitch {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return text;
}

const lease_table::entry* lease_names::lease_of(mac_address client, const std::string& name,
                                                const lease_table& leases, time_point now) const {
  const auto* lease = leases.find(client);
  const bool is_its = lease != nullptr && lease->is == lease_table::state::bound &&
                      lease->is_live(now) && lower_case(lease->name) == name;
  return is_its ? lease : nullptr;
}

const lease_table::entry* lease_names::find(const std::string& name, const lease_table& leases,
                                            time_point now) {
  if (version_ != leases.version())
    refresh(leases, now);
  const auto owner = owners_.find(name);
  if (owner == owners_.end())
    return nullptr;
  if (const auto* lease = lease_of(owner->second, name, leases, now))
    return lease;
  if (!refresh(leases, now)) // it has run out: another VM may have that name
    return nullptr;
  const auto next = owners_.find(name);
  return next == owners_.end() ? nullptr : lease_of(next->second, name, leases, now);
}

std::optional<std::string> lease_names::name_of(ipv4_address address, const lease_table& leases,
                                                time_point now) {
  const auto* lease = leases.find(address);
  if (lease == nullptr || lease->name.empty())
    return std::nullopt;
  auto name = lower_case(lease->name);
  const auto* owner = find(name, leases, now);
  if (owner == nullptr || owner->address != address)
    return std::nullopt;
  return name;
}

// False if it is too early for that.
bool lease_names::refresh(const lease_table& leases, time_point now) {
  if (leases.size() > large_table && refreshed_ != time_point::min() &&
      now - refreshed_ < refresh_interval)
    return false;
  version_ = leases.version();
  refreshed_ = now;
  std::vector<const lease_table::entry*> named;
  leases.for_each([&](const lease_table::entry& one) {
    if (one.is == lease_table::state::bound && one.is_live(now) && !one.name.empty())
      named.push_back(&one);
  });
  std::ranges::sort(named, {}, [](const auto* one) { return one->address; });
  std::unordered_map<std::string, mac_address> owners;
  for (const bool before : {true, false})
    for (const auto* one : named) {
      auto name = lower_case(one->name);
      const auto last = owners_.find(name);
      const bool had_it = last != owners_.end() && last->second == one->client;
      if (had_it == before && may_have_(name, one->client))
        owners.try_emplace(std::move(name), one->client);
    }
  owners_ = std::move(owners);
  return true;
}

} // namespace vmswitch
