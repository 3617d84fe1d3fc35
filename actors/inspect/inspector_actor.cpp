#include "actors/inspect/inspector_actor.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/inspect/collection.hpp"
#include "actors/messages.hpp"

namespace vmswitch {

namespace {

constexpr std::chrono::milliseconds patience{300};
constexpr std::chrono::milliseconds pause{20};

struct inspector_state {
  explicit inspector_state(caf::stateful_actor<inspector_state>* actor) : self{actor} {}

  caf::stateful_actor<inspector_state>* self;
  std::vector<watched_network> networks;
  std::vector<inspect> waiting; // for the next round
  std::vector<inspect> askers;  // of this one
  std::optional<collection> round;
  std::uint64_t last_ticket = 0;
  std::chrono::steady_clock::time_point not_before{};
  bool start_pending = false;

  static constexpr const char* name = "inspector";

  void ask(const inspect& message);
  void begin_soon();
  void begin_round();
  void end_round();
  template <class Report>
  void add(const Report& report) {
    if (!round)
      return;
    round->add(report);
    if (round->complete())
      end_round();
  }
};

void inspector_state::ask(const inspect& message) {
  waiting.push_back(message);
  begin_soon();
}

void inspector_state::begin_soon() {
  if (round || start_pending || waiting.empty())
    return;
  const auto now = now_of(self);
  if (now >= not_before) {
    begin_round();
    return;
  }
  start_pending = true;
  tell_after(self, not_before - now, inspection_due{});
}

void inspector_state::begin_round() {
  not_before = now_of(self) + pause;
  askers = std::exchange(waiting, {});
  inspection_scope scope;
  for (const auto& each : askers) {
    scope.ports |= each.scope.ports;
    scope.macs |= each.scope.macs;
    scope.services |= each.scope.services;
    scope.names |= each.scope.names;
  }
  std::vector<std::string> names;
  for (const auto& network : networks)
    names.push_back(network.name);
  round.emplace(++last_ticket, scope, std::move(names));
  for (std::uint32_t i = 0; i < networks.size(); ++i)
    tell(networks[i].network, inspect_network{caf::actor{self}, {last_ticket, i, 0}, scope});
  if (round->complete())
    end_round();
  else
    tell_after(self, patience, inspection_overdue{last_ticket});
}

void inspector_state::end_round() {
  const auto made = std::make_shared<const daemon_snapshot>(round->take());
  round.reset();
  for (const auto& each : std::exchange(askers, {}))
    each.done(made);
  begin_soon();
}

} // namespace

caf::actor spawn_inspector(caf::actor_system& system) {
  return system.spawn([](caf::stateful_actor<inspector_state>* self) -> caf::behavior {
    auto& state = state_of(self);
    return {
        [&state](const watch_networks& message) { state.networks = message.networks; },
        [&state](const inspect& message) { state.ask(message); },
        [&state](const inspection_due&) {
          state.start_pending = false;
          state.begin_soon();
        },
        [&state](const inspection_overdue& message) {
          if (state.round && state.round->ticket() == message.ticket)
            state.end_round();
        },
        [&state](const network_report& message) { state.add(message); },
        [&state](const counters_report& message) { state.add(message); },
        [&state](const switch_report& message) { state.add(message); },
        [&state](const port_gone& message) { state.add(message); },
        [&state](const stop&) { state.self->quit(); },
    };
  });
}

} // namespace vmswitch
