#include "actors/network/network_state.hpp"

#include <utility>

namespace vmswitch {

namespace {

std::string_view name_of(host_mode mode) {
  switch (mode) {
  case host_mode::user:
    return "user";
  case host_mode::isolated:
    return "isolated";
  case host_mode::host:
    return "host";
  case host_mode::shared:
    return "shared";
  case host_mode::bridged:
    return "bridged";
  }
  return "?";
}

} // namespace

network_snapshot network_state::describe_self() const {
  network_snapshot told;
  told.name = config.name;
  told.phase = now == phase::starting ? network_phase::starting
               : now == phase::up     ? network_phase::up
                                      : network_phase::stopping;
  told.mode = name_of(config.host.mode);
  told.host = host_description;
  told.host_up = host_is_up;
  told.restarts = host_restarts;
  if (owns_subnet(config.host.mode)) {
    told.subnet = to_string(config.host.subnet);
    told.gateway = to_string(config.host.gateway);
  }
  told.mtu = config.host.mtu;
  told.port_limit = config.limits.ports;
  told.mac_limit = config.limits.macs;
  told.connected = connections;
  for (const auto& each : listeners)
    if (each.actor)
      told.listeners.push_back({each.config.path, each.config.type == listen_type::dgram, {}});
  told.gone = gone;
  told.gone_waited = gone_waited;
  return told;
}

void network_state::on_inspect(const inspect_network& message) {
  network_report report{message.about, describe_self(), false, {}};
  const report_counters question{message.to, message.about, message.scope};
  if (host) {
    auto& port = report.self.ports.emplace_back();
    port.brief = slots[0].brief;
    port.brief.peer = host_description;
    port.brief.since = host_since;
    if (message.scope.asks_host())
      tell(host, question);
  }
  for (const auto& each : slots) {
    if (!each.port)
      continue;
    report.self.ports.emplace_back().brief = each.brief;
    if (message.scope.ports)
      tell(each.port, question);
  }
  if (vm_switch && (message.scope.ports || message.scope.macs)) {
    report.asked_switch = true;
    tell(vm_switch, question);
  }
  std::uint32_t part = 0; // among those that describe_self() has told of
  for (const auto& each : listeners) {
    if (!each.actor)
      continue;
    if (message.scope.ports && each.config.type == listen_type::dgram) {
      report.asked_listeners.push_back(part);
      auto its_question = question;
      its_question.about.part = part;
      tell(each.actor, std::move(its_question));
    }
    ++part;
  }
  inspector = message.to;
  last_inquiry = message.about;
  tell(inspector, std::move(report));
}

void network_state::publish(daemon_event event) const {
  if (!runtime.publish)
    return;
  event.network = config.name;
  event.alias = alias_of(event.port);
  runtime.publish(std::move(event));
}

void network_state::on_port_finished(const port_finished& message) {
  gone += message.counters;
  gone_waited += message.waited;
  if (inspector)
    tell(inspector, port_gone{last_inquiry, message.id, message.counters, message.waited});
}

} // namespace vmswitch
