#include "actors/switch/mac_table.hpp"

#include <bit>
#include <cassert>
#include <utility>

namespace vmswitch {

namespace {

constexpr std::size_t initial_capacity = 64;

} // namespace

mac_table::mac_table(limits bounds, std::uint64_t seed)
    : bounds_{bounds}, multiplier_{seed * 2 + 1} {
  assert(bounds.total > 0 && bounds.per_slot > 0);
  rebuild(initial_capacity, [](const entry&) { return true; });
}

std::size_t mac_table::position(std::uint64_t key) const noexcept {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = home(key);
  while (entries_[at].behind != no_slot && entries_[at].key != key)
    at = (at + 1) & mask;
  return at;
}

mac_table::slot mac_table::find(mac_address destination, std::uint32_t now_s) const noexcept {
  const entry& found = entries_[position(destination.integer())];
  // An empty entry says no_slot by itself.
  return aged(found, now_s) ? no_slot : found.behind;
}

mac_table::learned mac_table::learn(mac_address source, slot from, std::uint32_t now_s) {
  assert(!source.is_group() && from != no_slot);
  const auto key = source.integer();
  std::size_t at = position(key);
  if (entries_[at].behind == from) {
    entries_[at].seen_s = now_s;
    return learned::known;
  }
  if (from >= per_slot_.size())
    per_slot_.resize(from + 1);
  const bool present = entries_[at].behind != no_slot;
  const bool lacks_room = per_slot_[from] >= bounds_.per_slot;
  if ((lacks_room || (!present && used_ >= bounds_.total)) && make_room(now_s))
    return learn(source, from, now_s);
  if (lacks_room)
    return learned::slot_limit;
  if (present) {
    const bool was_current = !aged(entries_[at], now_s);
    --per_slot_[entries_[at].behind];
    ++per_slot_[from];
    entries_[at].behind = from;
    entries_[at].seen_s = now_s;
    return was_current ? learned::moved : learned::added;
  }
  if (used_ >= bounds_.total)
    return learned::full;
  if (2 * (used_ + 1) > entries_.size()) {
    rebuild(entries_.size() * 2, [](const entry&) { return true; });
    at = position(key);
  }
  entries_[at] = {key, from, now_s};
  ++used_;
  ++per_slot_[from];
  return learned::added;
}

// Sweeps aged entries; true if there were any. A flood of new addresses must not make every frame
// pay for a sweep, hence once a second.
bool mac_table::make_room(std::uint32_t now_s) {
  if (swept_once_ && swept_s_ == now_s)
    return false;
  swept_once_ = true;
  swept_s_ = now_s;
  const std::size_t before = used_;
  rebuild(entries_.size(), [&](const entry& each) { return !aged(each, now_s); });
  return used_ < before;
}

void mac_table::forget(slot gone) {
  if (size_behind(gone) > 0)
    rebuild(entries_.size(), [&](const entry& each) { return each.behind != gone; });
}

template <class Keep>
void mac_table::rebuild(std::size_t capacity, Keep&& keep) {
  const auto old = std::exchange(entries_, std::vector<entry>(capacity));
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(capacity));
  used_ = 0;
  std::fill(per_slot_.begin(), per_slot_.end(), 0);
  for (const entry& each : old) {
    if (each.behind == no_slot || !keep(each))
      continue;
    entries_[position(each.key)] = each;
    ++used_;
    ++per_slot_[each.behind];
  }
}

} // namespace vmswitch
