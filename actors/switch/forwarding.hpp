#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/port_flags.hpp"
#include "actors/port_id.hpp"
#include "actors/switch/mac_table.hpp"
#include "transport/frame/burst.hpp"
#include "transport/frame/port_counters.hpp"

namespace vmswitch {

/// Decides where the frames of a burst go.
///
/// Theory of operation. A burst is classified frame by frame, but what is emitted are runs: as
/// long as frames go where their predecessor went, nothing happens but that a range grows, so a
/// burst from one VM to another leaves as the one range that it came in; if it is marked as one
/// flow, its first frame speaks for all. At most one burst goes to
/// each egress port. Flooded frames are gathered once in `flood` and shared by all ports that got
/// nothing else; a port that also got unicast frames has them merged into its own burst, in order.
///
/// Rules: a source is learned unless it is a group address (such frames are dropped). A group
/// destination, or an unknown one, goes to every other port; a known one to exactly its port; one
/// behind the port that it came from is dropped. 802.1Q tags are not looked at. Of two isolated
/// ports neither gets what the other sends: frames to the other's addresses are dropped, floods
/// leave it out, as those of Linux' bridge do. A port that is down sends nothing, learns nothing,
/// has no addresses behind it, and is left out of floods.
///
/// Flags cost one look for each burst, at its sender's, and one for each run, at its receiver's in
/// the cache line that emitting the run reads anyway.
/// Pure: no CAF, no clock, no lock; one owner.
class forwarding {
public:
  forwarding(mac_table::limits bounds, std::uint64_t seed);

  /// Adds a port. @pre its slot is free
  void attach(port_id added, port_flags flags = {});
  /// Removes a port and every address behind it; ignored when it is not attached.
  void detach(port_id gone);
  bool attached(port_id which) const noexcept;
  /// From the next burst on; one that goes down loses its addresses. Ignored when not attached.
  void change(port_id which, port_flags flags);
  /// See mac_table.
  void change(mac_table::limits bounds) noexcept { table_.change(bounds); }
  std::size_t ports() const noexcept { return attached_; }

  struct unicast {
    std::uint32_t slot;
    burst frames; // flooded ones included
  };
  struct move {
    mac_address address;
    std::uint32_t from_slot;
    std::uint32_t to_slot;
  };
  /// What became of a burst. Valid until the next call of process().
  struct outcome {
    std::span<unicast> unicasts; // at most one for each slot; may be moved from
    const burst* flood;          // for every port that floods_to() names; null if none
    std::span<const move> moves; // addresses that changed their port; at most max_moves are named
    std::span<const mac_address> learned; // new ones, likewise
    drop_counters drops;
    std::uint32_t not_learned = 0; // learning attempts over a limit
  };
  static constexpr std::size_t max_moves = 8;

  outcome process(port_id from, const burst& frames, std::uint32_t now_s);

  /// Whether `slot` is among the unicasts of the present outcome (and so has its flood already).
  bool has_unicast(std::uint32_t slot) const noexcept { return slots_[slot].unicast != none; }
  /// Whether the flood of the present outcome goes to `slot`: every other attached port but the
  /// ingress, those that have it in their unicast, and those that get nothing from the ingress.
  bool floods_to(std::uint32_t slot) const noexcept {
    return slot < slots_.size() && slots_[slot].up && slot != from_slot_ && !has_unicast(slot) &&
           (slots_[slot].flags & refused_) == 0;
  }
  /// Whether a port is there, and has been set down.
  bool is_down(std::uint32_t slot) const noexcept {
    return slot < slots_.size() && slots_[slot].up && (slots_[slot].flags & down) != 0;
  }

  const mac_table& table() const noexcept { return table_; }

private:
  static constexpr std::uint32_t none = 0xffff'ffff;
  static constexpr std::uint32_t to_all = 0xffff'fffe; // a target: flood
  static constexpr std::uint32_t to_nobody = 0xffff'fffd;
  static constexpr std::uint8_t isolated = 1; // flags
  static constexpr std::uint8_t down = 2;

  struct slot_state {
    std::uint32_t generation = 0;
    bool up = false; // attached
    std::uint8_t flags = 0;
    std::uint32_t unicast = none; // index into unicasts_ during one process()
  };

  static std::uint8_t bits_of(port_flags flags) noexcept {
    return static_cast<std::uint8_t>((flags.isolated ? isolated : 0) | (flags.down ? down : 0));
  }
  std::uint32_t classify(std::uint32_t from_slot, const std::byte* frame, std::uint32_t now_s,
                         outcome& result);
  void dispatch(std::uint32_t target, std::uint32_t from_slot, const burst& in, frame_range run,
                std::uint32_t frames, outcome& result);
  void emit(std::uint32_t target, const burst& in, std::uint32_t begin, std::uint32_t end,
            std::uint32_t frames);

  mac_table table_;
  std::vector<slot_state> slots_;
  std::size_t attached_ = 0;
  // Of the present outcome: its ingress, and the flags of those that get nothing from there.
  std::uint32_t from_slot_ = none;
  std::uint8_t refused_ = down;
  // Reused from burst to burst.
  std::vector<unicast> unicasts_;
  burst flood_;
  std::vector<move> moves_;
  std::vector<mac_address> learned_;
};

} // namespace vmswitch
