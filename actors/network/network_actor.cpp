#include "actors/network/network_actor.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "actors/host/host_actor.hpp"
#include "actors/network/network_forwards.hpp"
#include "actors/network/network_host.hpp"
#include "actors/network/network_state.hpp"
#include "actors/switch/switch_actor.hpp"

namespace vmswitch {

namespace {

const char* event_type(const service_note& note) {
  const std::string_view kind{note.kind};
  return kind.starts_with("dhcp") ? "lease" : kind.starts_with("forward") ? "forward" : "service";
}

} // namespace

std::string text_of(caf::actor_system& system, const caf::error& reason) {
  return reason ? describe(system, reason) : std::string{};
}

void network_state::report(network_event::what kind) {
  runtime.report({kind, config.name, {}, {}, 0, 0});
}

void network_state::watch_part(const caf::actor& part, part_ended::part which,
                               std::uint32_t index) {
  watch(part,
        [to = self->address(), &system = self->system(), which, index](const caf::error& reason) {
          if (auto supervisor = caf::actor_cast<caf::actor>(to))
            tell(supervisor, part_ended{which, index, text_of(system, reason)});
        });
}

void network_state::start() {
  vm_switch =
      spawn_switch(self->system(), runtime.workers, config.name, config.limits, runtime.seed, me());
  watch_part(vm_switch, part_ended::part::vm_switch, 0);
  if (config.host.mode == host_mode::isolated)
    start_listeners();
  else
    start_host();
}

void network_state::start_host() {
  const port_id id{0, 0};
  slots[0].brief.id = id;
  slots[0].brief.name = "host";
  host = spawn_host(self->system(), runtime.serial,
                    {id, vm_switch, me(),
                     make_network_host(config, runtime.make_host(config.host), self->address()),
                     runtime.stock, max_frame(), config.limits, forwards_of(config)});
  watch_part(host, part_ended::part::host, 0);
}

void network_state::on_host(const host_state& message) {
  host_description = message.description;
  host_is_up = message.failure.empty();
  if (host_is_up) {
    host_restarts += now == phase::starting ? 0 : 1;
    host_since = std::chrono::system_clock::now();
  }
  if (now == phase::starting) {
    if (message.failure.empty()) {
      spdlog::info("network {}: {}", config.name, message.description);
      start_listeners();
    } else {
      fail(message.is_of_forward ? network_event::cause::listener : network_event::cause::host,
           {message.is_of_forward
                ? message.failure
                : fmt::format("the host interface cannot start: {}", message.failure),
            message.code});
    }
  } else if (message.failure.empty()) {
    spdlog::info("network {}: host interface up again: {}", config.name, message.description);
    publish({"host_up", {}, "host", {}, message.description});
  } else {
    spdlog::error("network {}: host interface down: {}", config.name, message.failure);
    publish({"host_down", {}, "host", {}, message.failure});
  }
}

void network_state::on_part_ended(const part_ended& message) {
  switch (message.which) {
  case part_ended::part::listener:
    if (const auto leaving = std::exchange(listeners[message.index], {}).leaving; leaving != 0) {
      answer(leaving, {});
      advance();
      return;
    }
    break;
  case part_ended::part::vm_switch:
    vm_switch = {};
    break;
  case part_ended::part::host:
    host = {};
    break;
  }
  if (now == phase::up || now == phase::starting)
    fail(network_event::cause::running,
         {fmt::format("a part of it has ended ({})",
                      message.failure.empty() ? "see above" : message.failure)});
  else
    advance();
}

caf::actor spawn_network(caf::actor_system& system, network_config config,
                         network_runtime runtime) {
  return system.spawn([config = std::move(config), runtime = std::move(runtime)](
                          caf::stateful_actor<network_state>* self) -> caf::behavior {
    auto& state = state_of(self);
    state.config = config;
    state.runtime = runtime;
    state.start();
    return {
        [&state](const host_state& message) { state.on_host(message); },
        [&state](const connected& message) { state.on_connected(message); },
        [&state](const port_note& message) { state.on_note(message); },
        [&state](const happened& message) { state.publish(message.event); },
        [&state](const service_note& message) {
          if (message.severity != service_note::level::debug)
            state.publish({event_type(message), {}, {}, {}, message.text});
          log_note(state.config.name, message, state.complaints, state.self->clock().now());
        },
        [&state](const port_ended& message) { state.on_port_ended(message); },
        [&state](const forward_add& message) { pass_on(state.host, message); },
        [&state](const forward_remove& message) { pass_on(state.host, message); },
        [&state](const forward_list& message) { pass_on(state.host, message); },
        [&state](const change_port& message) { state.on_change_port(message); },
        [&state](const inspect_network& message) { state.on_inspect(message); },
        [&state](const port_finished& message) { state.on_port_finished(message); },
        // Without a switch the tap goes, which tells its reader.
        [&state](const capture_start& message) { tell(state.vm_switch, message); },
        [&state](const capture_stop& message) { tell(state.vm_switch, message); },
        [&state](const part_changed& message) { state.on_part_changed(message); },
        [&state](const forward_answer& message) {
          state.on_part_changed({message.tag, message.failure});
        },
        [&state](const add_forward& message) { state.change(message); },
        [&state](const remove_forward& message) { state.change(message); },
        [&state](const change_limits& message) { state.change(message); },
        [&state](const change_services& message) { state.change(message); },
        [&state](const change_host& message) { state.change(message); },
        [&state](const change_access& message) { state.change(message); },
        [&state](const add_listener& message) { state.change(message); },
        [&state](const remove_listener& message) { state.change(message); },
        [&state](const part_ended& message) { state.on_part_ended(message); },
        [&state](const stop_overdue& message) { state.on_overdue(message); },
        [&state](const stop&) {
          if (state.now < network_state::phase::stopping_listeners)
            state.enter(network_state::phase::stopping_listeners);
        },
    };
  });
}

} // namespace vmswitch
