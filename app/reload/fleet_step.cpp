#include "app/reload/fleet_step.hpp"

#include <utility>

#include "actors/messages.hpp"
#include "app/logging.hpp"

namespace vmswitch {

namespace {

result<void> result_of(const network_event& event) {
  if (event.kind == network_event::what::failed ||
      (event.kind == network_event::what::changed && !event.text.empty()))
    return fail(event.text, event.code);
  return {};
}

} // namespace

void perform(const reload_action& action, network_fleet& fleet,
             std::function<void(result<void>)> done) {
  using what = reload_action::what;
  const auto& name = action.network.name;
  const auto answer = [done](const network_event& event) { done(result_of(event)); };
  switch (action.kind) {
  case what::change_log:
    change_logging(action.log);
    done({});
    break;
  case what::remove_network:
    fleet.remove(name, answer);
    break;
  case what::remove_listener:
    fleet.change(name, remove_listener{0, action.listener.path}, answer);
    break;
  case what::change_host:
    fleet.change(name, change_host{0, action.network}, answer);
    break;
  case what::change_services:
    fleet.change(name, change_services{0, action.network}, answer);
    break;
  case what::change_limits:
    fleet.change(name, change_limits{0, action.network.limits}, answer);
    break;
  case what::change_listener:
    fleet.change(name, change_access{0, action.listener}, answer);
    break;
  case what::add_listener:
    fleet.change(name, add_listener{0, action.listener}, answer);
    break;
  case what::remove_forward:
    fleet.change(name, remove_forward{0, action.forward.listen}, answer);
    break;
  case what::add_forward:
    fleet.change(name, add_forward{0, action.forward}, answer);
    break;
  case what::add_network:
    fleet.add(action.network, answer);
    break;
  }
}

} // namespace vmswitch
