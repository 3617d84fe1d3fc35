#include "vmnet/forward/vm_lookup.hpp"

#include <algorithm>

namespace vmswitch {

namespace {

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), small);
  return text;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, small, small);
}

} // namespace

vm_lookup::vm_lookup(const std::vector<dhcp_reservation>& reservations, const lease_table* leases)
    : leases_{leases} {
  for (const auto& one : reservations) {
    if (!one.name.empty())
      names_.emplace(in_small_letters(one.name), one.mac);
    if (one.address)
      reserved_.emplace(one.mac.integer(), *one.address);
  }
}

const mac_address* vm_lookup::reserved_for(const std::string& name) const {
  const auto known = names_.find(in_small_letters(name));
  return known == names_.end() ? nullptr : &known->second;
}

std::optional<found_vm> vm_lookup::find(const forward_target& target,
                                        const std::optional<found_vm>& last) const {
  if (const auto* address = std::get_if<ip_address>(&target))
    return found_vm{*address, {}};
  if (const auto* mac = std::get_if<mac_address>(&target))
    return find(*mac);
  const auto& name = std::get<std::string>(target);
  const auto* mac = reserved_for(name);
  return mac != nullptr ? find(*mac) : find_named(name, last);
}

bool vm_lookup::concerns(const dhcp_event& event, const forward_target& target,
                         const std::optional<found_vm>& last) const {
  if (std::holds_alternative<ip_address>(target))
    return false;
  if (last && (last->mac == event.client || last->address == ip_address{event.address}))
    return true;
  if (const auto* mac = std::get_if<mac_address>(&target))
    return *mac == event.client;
  const auto& name = std::get<std::string>(target);
  if (const auto* mac = reserved_for(name))
    return *mac == event.client;
  return same_name(name, event.name);
}

std::optional<found_vm> vm_lookup::find(mac_address vm) const {
  const auto* lease = leases_ == nullptr ? nullptr : leases_->find(vm);
  if (lease != nullptr &&
      (lease->is == lease_table::state::bound || lease->is == lease_table::state::in_use))
    return found_vm{lease->address, vm};
  if (const auto own = reserved_.find(vm.integer()); own != reserved_.end())
    return found_vm{own->second, vm};
  return std::nullopt;
}

std::optional<found_vm> vm_lookup::find_named(std::string_view name,
                                              const std::optional<found_vm>& last) const {
  if (leases_ == nullptr)
    return std::nullopt;
  const lease_table::entry* found = nullptr;
  const auto is_last = [&](const lease_table::entry& one) {
    return last && last->mac == one.client;
  };
  leases_->for_each([&](const lease_table::entry& one) {
    if (one.is != lease_table::state::bound || !same_name(one.name, name))
      return;
    if (found == nullptr || is_last(one) || (!is_last(*found) && one.used > found->used))
      found = &one;
  });
  if (found == nullptr)
    return std::nullopt;
  return found_vm{found->address, found->client};
}

} // namespace vmswitch
