#include "vmnet/dhcp/lease_list.hpp"

#include <algorithm>

namespace vmswitch {

namespace {

lease_info::state state_of(const lease_table::entry& one, lease_table::time_point now) {
  if (!one.is_live(now))
    return lease_info::state::ended;
  switch (one.is) {
  case lease_table::state::offered:
    return lease_info::state::offered;
  case lease_table::state::bound:
    return lease_info::state::bound;
  case lease_table::state::declined:
    return lease_info::state::declined;
  case lease_table::state::in_use:
    return lease_info::state::in_use;
  case lease_table::state::ended:
    break;
  }
  return lease_info::state::ended;
}

} // namespace

std::vector<lease_info> list_leases(const lease_table& table, lease_table::time_point now) {
  std::vector<lease_info> list;
  list.reserve(table.size());
  table.for_each([&](const lease_table::entry& one) {
    const auto is = state_of(one, now);
    const auto left = is == lease_info::state::ended
                          ? std::chrono::seconds{0}
                          : std::chrono::duration_cast<std::chrono::seconds>(one.until - now);
    list.push_back({one.address, one.client, is, left, one.name});
  });
  std::ranges::sort(list, {}, &lease_info::address);
  return list;
}

} // namespace vmswitch
