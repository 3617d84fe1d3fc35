#include "actors/switch/forwarding.hpp"

#include <cassert>
#include <cstring>

namespace vmswitch {

forwarding::forwarding(mac_table::limits bounds, std::uint64_t seed) : table_{bounds, seed} {}

void forwarding::attach(port_id added, port_flags flags) {
  if (added.slot >= slots_.size())
    slots_.resize(added.slot + 1);
  assert(!slots_[added.slot].up);
  slots_[added.slot] = {added.generation, true, bits_of(flags), none};
  ++attached_;
}

void forwarding::detach(port_id gone) {
  if (!attached(gone))
    return;
  slots_[gone.slot].up = false;
  --attached_;
  table_.forget(gone.slot);
}

bool forwarding::attached(port_id which) const noexcept {
  return which.slot < slots_.size() && slots_[which.slot].up &&
         slots_[which.slot].generation == which.generation;
}

void forwarding::change(port_id which, port_flags flags) {
  if (!attached(which))
    return;
  slots_[which.slot].flags = bits_of(flags);
  if (flags.down)
    table_.forget(which.slot);
}

// The slow path: a frame whose addresses differ from its predecessor's.
std::uint32_t forwarding::classify(std::uint32_t from_slot, const std::byte* frame,
                                   std::uint32_t now_s, outcome& result) {
  const auto source = mac_address::read(frame + 6);
  if (source.is_group())
    return to_nobody;
  const auto before = moves_.size() < max_moves ? table_.find(source, now_s) : mac_table::no_slot;
  switch (table_.learn(source, from_slot, now_s)) {
  case mac_table::learned::moved:
    if (moves_.size() < max_moves)
      moves_.push_back({source, before, from_slot});
    break;
  case mac_table::learned::slot_limit:
  case mac_table::learned::full:
    ++result.not_learned;
    break;
  case mac_table::learned::added:
    if (learned_.size() < max_moves)
      learned_.push_back(source);
    break;
  case mac_table::learned::known:
    break;
  }
  const auto destination = mac_address::read(frame);
  if (destination.is_group())
    return to_all;
  const auto slot = table_.find(destination, now_s);
  return slot == mac_table::no_slot ? to_all : slot;
}

void forwarding::emit(std::uint32_t target, const burst& in, std::uint32_t begin, std::uint32_t end,
                      std::uint32_t frames) {
  if (target == to_all) {
    if (flood_.empty())
      flood_ = burst{in.memory()};
    flood_.append(begin, end, frames);
    for (unicast& each : unicasts_)
      each.frames.append(begin, end, frames);
    return;
  }
  std::uint32_t& index = slots_[target].unicast;
  if (index == none) {
    index = static_cast<std::uint32_t>(unicasts_.size());
    // What was flooded before this frame goes out before it.
    unicasts_.push_back({target, flood_.empty() ? burst{in.memory()} : flood_});
  }
  unicasts_[index].frames.append(begin, end, frames);
}

void forwarding::dispatch(std::uint32_t target, std::uint32_t from_slot, const burst& in,
                          frame_range run, std::uint32_t frames, outcome& result) {
  if (target == from_slot)
    result.drops.add(drop_reason::same_port, frames);
  else if (target == to_nobody)
    result.drops.add(drop_reason::group_source, frames);
  else if (target != to_all && (slots_[target].flags & refused_) != 0)
    result.drops.add(drop_reason::port_isolated, frames); // no address is behind one that is down
  else
    emit(target, in, run.begin, run.end, frames);
}

forwarding::outcome forwarding::process(port_id from, const burst& in, std::uint32_t now_s) {
  for (const unicast& each : unicasts_)
    slots_[each.slot].unicast = none;
  unicasts_.clear();
  moves_.clear();
  learned_.clear();
  flood_ = burst{};
  from_slot_ = from.slot;

  outcome result{};
  if (!attached(from)) {
    result.drops.add(drop_reason::unknown_port, in.frames());
    return result;
  }
  const auto own = slots_[from.slot].flags;
  if ((own & down) != 0) {
    result.drops.add(drop_reason::port_down, in.frames());
    return result;
  }
  refused_ = static_cast<std::uint8_t>(down | (own & isolated));

  const auto conclude = [&] {
    result.unicasts = unicasts_;
    result.flood = flood_.empty() ? nullptr : &flood_;
    result.moves = moves_;
    result.learned = learned_;
    return result;
  };
  const std::byte* data = in.data();
  if (const auto ranges = in.ranges(); in.one_flow() && ranges.size() == 1) {
    const auto* frame = data + ranges[0].begin + prefix_size;
    dispatch(classify(from.slot, frame, now_s, result), from.slot, in, ranges[0], in.frames(),
             result);
    return conclude();
  }
  std::uint64_t last_head = 0; // the addresses of the previous frame: 12 bytes in two loads
  std::uint64_t last_tail = 0;
  std::uint32_t target = to_nobody;
  bool first = true;
  for (const frame_range range : in.ranges()) {
    std::uint32_t run_begin = range.begin;
    std::uint32_t run_frames = 0;
    const auto finish = [&](std::uint32_t end) {
      if (run_frames > 0)
        dispatch(target, from.slot, in, {run_begin, end}, run_frames, result);
      run_frames = 0;
    };
    // The length of a frame is predicted to be its predecessor's, and the processor goes on with
    // that before the load has arrived: the chain of dependent loads is broken.
    std::uint32_t last_raw = 0;
    std::uint32_t step = 0;
    for (std::uint32_t at = range.begin; at < range.end;) {
      std::uint32_t raw;
      std::memcpy(&raw, data + at, sizeof raw);
      const std::byte* frame = data + at + prefix_size;
      std::uint64_t head;
      std::uint64_t tail;
      std::memcpy(&head, frame, sizeof head);
      std::memcpy(&tail, frame + 4, sizeof tail);
      if (((head ^ last_head) | (tail ^ last_tail)) != 0 || first) [[unlikely]] {
        first = false;
        last_head = head;
        last_tail = tail;
        const auto next = classify(from.slot, frame, now_s, result);
        if (next != target) {
          finish(at);
          run_begin = at;
          target = next;
        }
      }
      ++run_frames;
      if (raw != last_raw) [[unlikely]] {
        last_raw = raw;
        step = static_cast<std::uint32_t>(prefix_size) + __builtin_bswap32(raw);
      }
      at += step;
    }
    finish(range.end);
  }
  return conclude();
}

} // namespace vmswitch
