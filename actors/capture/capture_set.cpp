#include "actors/capture/capture_set.hpp"

#include <utility>

#include <fmt/format.h>

namespace vmswitch {

void capture_set::start(std::shared_ptr<capture_tap> tap, std::span<const capture_tap::port> ports,
                        clock::time_point now) {
  if (taps_.size() == most)
    return tap->refuse(
        fmt::format("network {} has {} captures running, and may not have more; end one first",
                    tap->request().network, most));
  tap->begin(ports, now);
  if (!tap->ended())
    taps_.push_back(std::move(tap));
}

void capture_set::stop(std::uint64_t id, clock::time_point now) {
  for (const auto& each : taps_)
    if (each->request().id == id)
      each->end({}, now);
  forget_ended();
}

void capture_set::stop_all(std::string_view why, clock::time_point now) {
  for (const auto& each : taps_)
    each->end(why, now);
  taps_.clear();
}

void capture_set::port_attached(capture_tap::port added, clock::time_point now) {
  for (const auto& each : taps_)
    each->port_attached(added, now);
}

void capture_set::port_detached(std::uint32_t slot, clock::time_point now) {
  for (const auto& each : taps_)
    each->port_detached(slot, now);
  forget_ended();
}

void capture_set::record(port_id from, const burst& in, const forwarding::outcome& outcome,
                         const forwarding& table, clock::time_point now) {
  bool some_ended = false;
  for (const auto& each : taps_) {
    const auto slot = each->slot();
    if (each->all_ports() || slot == from.slot) {
      each->record(from.slot, pcapng::direction::inbound, in, now);
    } else if (table.has_unicast(slot)) {
      for (const auto& unicast : outcome.unicasts)
        if (unicast.slot == slot)
          each->record(slot, pcapng::direction::outbound, unicast.frames, now);
    } else if (outcome.flood != nullptr && table.floods_to(slot)) {
      each->record(slot, pcapng::direction::outbound, *outcome.flood, now);
    }
    each->publish();
    some_ended = some_ended || each->ended();
  }
  if (some_ended)
    forget_ended();
}

void capture_set::forget_ended() {
  std::erase_if(taps_, [](const auto& each) { return each->ended(); });
}

} // namespace vmswitch
