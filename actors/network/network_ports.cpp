#include "actors/network/network_state.hpp"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "actors/port/port_actor.hpp"

namespace vmswitch {

// The number of its listener; that of none if it has been taken away meanwhile.
std::uint32_t network_state::origin_of(const connected& message) const {
  const auto at = std::ranges::find_if(listeners, [&](const listening& each) {
    return each.actor && message.listener && each.leaving == 0 &&
           each.actor->id() == message.listener->id();
  });
  return static_cast<std::uint32_t>(at - listeners.begin());
}

void network_state::on_connected(const connected& message) {
  const auto refuse = [&](const char* why) {
    if (const auto verdict = complaints.judge("refused", self->clock().now()); verdict.say)
      spdlog::warn("network {}: a VM on {} was turned away: {}{}", config.name, message.via, why,
                   suppressed_note(verdict.suppressed));
    if (message.listener)
      tell(message.listener, port_started{message.peer, {}});
  };
  if (now != phase::up)
    return refuse("the network stops");
  const auto origin = origin_of(message);
  if (origin == listeners.size() && message.listener)
    return refuse("its socket has been closed");
  if (ports >= config.limits.ports)
    return refuse("it has as many ports as it may (limits: ports)");
  std::uint32_t index;
  if (free_slots.empty()) {
    index = static_cast<std::uint32_t>(slots.size());
    slots.emplace_back();
  } else {
    index = free_slots.back();
    free_slots.pop_back();
  }
  slot& chosen = slots[index];
  const port_id id{index, ++chosen.generation};
  chosen.brief = {id,
                  fmt::format("{}.{}", config.name, ++connections),
                  message.via,
                  message.connection->peer(),
                  message.connection->identity(),
                  std::chrono::system_clock::now(),
                  {},
                  {.isolated = origin < listeners.size() && listeners[origin].config.isolated}};
  chosen.port = spawn_port(self->system(), runtime.workers,
                           {id, chosen.brief.name, message.via, vm_switch, me(), message.connection,
                            runtime.stock, max_frame(), config.limits, chosen.brief.flags});
  if (!message.peer.unnamed()) // a stream has no peer to be told of again
    chosen.listener = message.listener;
  chosen.peer = message.peer;
  chosen.origin = origin;
  ++ports;
  watch(chosen.port,
        [to = self->address(), &system = self->system(), id](const caf::error& reason) {
          if (auto supervisor = caf::actor_cast<caf::actor>(to))
            tell(supervisor, port_ended{id, text_of(system, reason)});
        });
  if (message.listener)
    tell(message.listener, port_started{message.peer, chosen.port});
}

void network_state::on_note(const port_note& message) {
  if (message.kind == port_note::what::silent) {
    spdlog::debug("{}", message.text);
    return;
  }
  const bool failed = message.kind == port_note::what::failed;
  publish({message.kind == port_note::what::up ? "port_up" : "port_down",
           {},
           message.port,
           {},
           message.text});
  const auto verdict = complaints.judge(failed                                ? "failed"
                                        : message.kind == port_note::what::up ? "up"
                                                                              : "down",
                                        self->clock().now());
  if (verdict.say)
    spdlog::log(failed ? spdlog::level::warn : spdlog::level::info, "{}{}", message.text,
                suppressed_note(verdict.suppressed));
}

void network_state::on_port_ended(const port_ended& message) {
  slot& ended = slots[message.id.slot];
  if (!ended.port || ended.generation != message.id.generation)
    return;
  if (!message.failure.empty()) {
    // Those that were left behind on the way down have had their line.
    if (const auto verdict = complaints.judge("crashed", self->clock().now());
        verdict.say && now < phase::stopping_listeners)
      spdlog::error("network {}: a port failed: {}{}", config.name, message.failure,
                    suppressed_note(verdict.suppressed));
    tell(vm_switch, detach_port{message.id});
  }
  if (ended.listener)
    tell(ended.listener, peer_gone{ended.peer});
  ended.port = {};
  ended.listener = {};
  aliases.erase(ended.brief.alias);
  free_slots.push_back(message.id.slot);
  --ports;
  advance();
}

} // namespace vmswitch
