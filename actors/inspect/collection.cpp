#include "actors/inspect/collection.hpp"

#include <algorithm>
#include <utility>

namespace vmswitch {

namespace {

// Parts of a network: ports by slot, listeners by index, and the switch.
constexpr std::uint64_t listener_part = std::uint64_t{1} << 32;
constexpr std::uint64_t switch_part = std::uint64_t{2} << 32;

} // namespace

collection::collection(std::uint64_t ticket, inspection_scope scope,
                       std::vector<std::string> networks)
    : ticket_{ticket}, scope_{scope}, names_{std::move(networks)},
      networks_(names_.size()), missing_{names_.size()} {}

bool collection::complete() const noexcept {
  return missing_ == 0;
}

collection::network* collection::of(const inquiry& about) {
  return about.ticket == ticket_ && about.network < networks_.size() ? &networks_[about.network]
                                                                     : nullptr;
}

void collection::came(network& to, std::uint64_t part) {
  if (!to.base)
    to.arrived.insert(part);
  else
    missing_ -= to.awaited.erase(part);
}

void collection::add(const network_report& report) {
  network* const to = of(report.about);
  if (to == nullptr || to->base)
    return;
  const auto await = [&](std::uint64_t part) {
    if (!to->arrived.contains(part))
      missing_ += to->awaited.insert(part).second ? 1 : 0;
  };
  for (const auto& port : report.self.ports)
    if (scope_.ports || (scope_.asks_host() && port.is_host()))
      await(port.brief.id.slot);
  if (report.asked_switch)
    await(switch_part);
  for (const auto index : report.asked_listeners)
    await(listener_part | index);
  to->arrived.clear();
  to->base = report;
  --missing_;
}

void collection::add(const counters_report& report) {
  network* const to = of(report.about);
  if (to == nullptr)
    return;
  if (report.id == port_id{}) {
    to->listeners.try_emplace(report.about.part, report);
    came(*to, listener_part | report.about.part);
  } else {
    to->ports.try_emplace(report.id.slot, report);
    came(*to, report.id.slot);
  }
}

void collection::add(const switch_report& report) {
  network* const to = of(report.about);
  if (to == nullptr || to->of_switch)
    return;
  to->of_switch = report;
  came(*to, switch_part);
}

void collection::add(const port_gone& report) {
  network* const to = of(report.about);
  if (to == nullptr || !to->base)
    return;
  auto& self = to->base->self;
  const auto at = std::ranges::find(self.ports, report.id,
                                    [](const port_snapshot& port) { return port.brief.id; });
  if (at == self.ports.end())
    return;
  self.ports.erase(at);
  self.gone += report.counters;
  self.gone_waited += report.waited;
  to->ports.erase(report.id.slot);
  came(*to, report.id.slot);
}

network_snapshot collection::assemble(network& from) {
  auto made = std::move(from.base->self);
  std::unordered_map<std::uint32_t, std::size_t> places; // of ports, by slot
  for (std::size_t i = 0; i < made.ports.size(); ++i) {
    auto& port = made.ports[i];
    places.emplace(port.brief.id.slot, i);
    const auto told = from.ports.find(port.brief.id.slot);
    if (told == from.ports.end())
      continue;
    port.answered = true;
    port.counters = told->second.counters;
    port.queue = told->second.queue;
    port.waited = told->second.waited;
    if (port.is_host())
      made.services = std::move(told->second.services);
  }
  if (from.of_switch) {
    made.switch_drops = from.of_switch->gone;
    made.mac_count = from.of_switch->mac_count;
    made.macs = std::move(from.of_switch->macs);
    made.captures = std::move(from.of_switch->captures);
    for (const auto& told : from.of_switch->ports) {
      const auto place = places.find(told.id.slot);
      if (place == places.end() || made.ports[place->second].brief.id != told.id) {
        made.switch_drops += told.drops;
        continue;
      }
      made.ports[place->second].counters.drops += told.drops;
      made.ports[place->second].macs = told.macs;
    }
    for (auto& mac : made.macs)
      if (const auto place = places.find(mac.slot); place != places.end()) {
        mac.port = made.ports[place->second].brief.name;
        mac.alias = made.ports[place->second].brief.alias;
      }
  }
  for (auto& [index, told] : from.listeners)
    if (index < made.listeners.size())
      made.listeners[index].drops = told.counters.drops;
  for (const auto part : from.awaited) {
    if (part == switch_part)
      made.silent.emplace_back("switch");
    else if ((part & listener_part) != 0)
      made.silent.push_back(made.listeners.at(part & 0xffff'ffff).path);
    else if (const auto place = places.find(static_cast<std::uint32_t>(part));
             place != places.end())
      made.silent.push_back(made.ports[place->second].brief.name);
  }
  std::ranges::sort(made.silent);
  return made;
}

daemon_snapshot collection::take() {
  daemon_snapshot made;
  made.scope = scope_;
  for (std::size_t i = 0; i < networks_.size(); ++i) {
    if (networks_[i].base) {
      made.networks.push_back(assemble(networks_[i]));
    } else {
      auto& silent = made.networks.emplace_back();
      silent.name = names_[i];
      silent.silent.emplace_back("network");
    }
  }
  networks_.clear();
  return made;
}

} // namespace vmswitch
