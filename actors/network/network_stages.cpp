#include "actors/network/network_state.hpp"

#include <algorithm>

#include <spdlog/spdlog.h>

namespace vmswitch {

namespace {
constexpr std::chrono::milliseconds stage_deadline{400};
} // namespace

void network_state::fail(network_event::cause cause, const error& why) {
  runtime.report({network_event::what::failed, config.name, why.text, cause, why.code, 0});
  enter(phase::stopping_listeners);
}

// The actors that the present phase waits for.
std::vector<caf::actor> network_state::awaited() const {
  std::vector<caf::actor> found;
  const auto add = [&](const caf::actor& each) {
    if (each)
      found.push_back(each);
  };
  switch (now) {
  case phase::stopping_listeners:
    for (const auto& each : listeners)
      add(each.actor);
    break;
  case phase::stopping_ports:
    for (const auto& each : slots)
      add(each.port);
    break;
  case phase::stopping_switch:
    add(vm_switch);
    break;
  case phase::stopping_host:
    add(host);
    break;
  case phase::starting:
  case phase::up:
  case phase::down:
    break;
  }
  return found;
}

void network_state::enter(phase next) {
  now = next;
  ++stage;
  if (now == phase::down) {
    runtime.report({network_event::what::down,
                    config.name,
                    left_behind == 0 ? std::string{} : fmt::format("{} part(s)", left_behind),
                    {},
                    0,
                    0});
    self->quit();
    return;
  }
  for (const auto& each : awaited())
    tell(each, stop{});
  tell_after(self, stage_deadline, stop_overdue{stage});
  advance();
}

// Called for every port that ends: no list is made.
bool network_state::stage_is_over() const {
  switch (now) {
  case phase::stopping_listeners:
    return std::none_of(listeners.begin(), listeners.end(),
                        [](const listening& each) { return static_cast<bool>(each.actor); });
  case phase::stopping_ports:
    return ports == 0;
  case phase::stopping_switch:
    return !vm_switch;
  case phase::stopping_host:
    return !host;
  case phase::starting:
  case phase::up:
  case phase::down:
    break;
  }
  return false;
}

void network_state::advance() {
  if (stage_is_over())
    enter(static_cast<phase>(static_cast<int>(now) + 1));
}

void network_state::on_overdue(const stop_overdue& message) {
  if (message.stage != stage || now == phase::down)
    return;
  const auto stuck = awaited();
  spdlog::warn("network {}: {} part(s) did not stop in {} ms and are left behind", config.name,
               stuck.size(), stage_deadline.count());
  left_behind += stuck.size();
  for (const auto& each : stuck)
    caf::anon_send_exit(each, caf::exit_reason::kill);
  enter(static_cast<phase>(static_cast<int>(now) + 1));
}

} // namespace vmswitch
