#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/frame/mac_address.hpp"

namespace vmswitch {

/// Which port slot a MAC address was last seen behind.
///
/// Theory of operation. Open addressing with linear probing in one array of 16-byte entries, at
/// most half full, so a look-up touches one cache line nearly always. Ageing costs nothing: an
/// entry carries the second it was last seen and is ignored, later overwritten, when that is too
/// long ago. Hashing multiplies by a secret odd number, so a VM cannot choose addresses that
/// collide. Limits per port and in all keep one VM from evicting the others: over its limit its
/// further addresses are simply not learned, and frames to them are flooded.
/// Pure: time is an argument (seconds of any monotonic clock). One owner, no locks.
class mac_table {
public:
  /// Slots are small integers, one per port; see forwarding.
  using slot = std::uint32_t;
  static constexpr slot no_slot = 0xffff'ffff;

  struct limits {
    std::size_t total;
    std::size_t per_slot;
    std::uint32_t ageing_s;
  };

  mac_table(limits bounds, std::uint64_t seed);

  /// Other limits from now on. What was learned beyond smaller ones stays until it is too old.
  /// @pre as for those of the constructor
  void change(limits bounds) noexcept { bounds_ = bounds; }

  enum class learned : std::uint8_t {
    known,      ///< already there; its age is reset
    added,      ///< new
    moved,      ///< was behind another slot until now
    slot_limit, ///< not learned: this slot has as many as it may
    full,       ///< not learned: the table has as many as it may
  };

  /// Notes that `source` was seen behind `from`. @pre source is not a group address
  learned learn(mac_address source, slot from, std::uint32_t now_s);

  /// The slot behind which `destination` is, or no_slot when unknown or too old.
  slot find(mac_address destination, std::uint32_t now_s) const noexcept;

  /// Forgets every address behind `gone`.
  void forget(slot gone);

  /// Entries, aged ones included until they are overwritten or swept.
  std::size_t size() const noexcept { return used_; }
  std::size_t size_behind(slot of) const noexcept {
    return of < per_slot_.size() ? per_slot_[of] : 0;
  }

  /// Calls `visit(mac_address, slot, age_s)` for each address that is not too old.
  template <class Visit>
  void for_each(std::uint32_t now_s, Visit&& visit) const {
    for (const entry& each : entries_)
      if (each.behind != no_slot && !aged(each, now_s))
        visit(mac_address::from_integer(each.key), each.behind, now_s - each.seen_s);
  }

  /// The same for a part of the table, so that a large one can be read bit by bit: begins at the
  /// place `from`, looks at `most` places, returns where to go on, or 0 at the end. Addresses that
  /// move within the table meanwhile may be missed, or seen twice.
  template <class Visit>
  std::size_t visit_part(std::size_t from, std::size_t most, std::uint32_t now_s,
                         Visit&& visit) const {
    const std::size_t end = from + most < entries_.size() ? from + most : entries_.size();
    for (std::size_t at = from; at < end; ++at)
      if (const entry& each = entries_[at]; each.behind != no_slot && !aged(each, now_s))
        visit(mac_address::from_integer(each.key), each.behind, now_s - each.seen_s);
    return end < entries_.size() ? end : 0;
  }

private:
  struct entry {
    std::uint64_t key = 0;
    slot behind = no_slot; // no_slot: empty
    std::uint32_t seen_s = 0;
  };
  static_assert(sizeof(entry) == 16);

  bool aged(const entry& each, std::uint32_t now_s) const noexcept {
    return now_s - each.seen_s > bounds_.ageing_s;
  }
  std::size_t home(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((key * multiplier_) >> shift_);
  }
  std::size_t position(std::uint64_t key) const noexcept; // of the key, or of an empty entry
  template <class Keep>
  void rebuild(std::size_t capacity, Keep&& keep);
  bool make_room(std::uint32_t now_s);

  limits bounds_;
  const std::uint64_t multiplier_;
  unsigned shift_ = 0;         // 64 - log2(entries_.size())
  std::vector<entry> entries_; // a power of two, at least twice used_
  std::size_t used_ = 0;
  std::uint32_t swept_s_ = 0; // at most one sweep a second
  bool swept_once_ = false;
  std::vector<std::uint32_t> per_slot_;
};

} // namespace vmswitch
