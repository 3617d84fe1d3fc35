#include "app/control/json_views.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace vmswitch {

namespace {

using nlohmann::ordered_json;

ordered_json drops_json(const drop_counters& drops) {
  auto out = ordered_json::object();
  for (std::size_t i = 0; i < drop_reason_count; ++i)
    if (const auto reason = static_cast<drop_reason>(i); drops[reason] > 0)
      out[std::string{to_string(reason)}] = drops[reason];
  return out;
}

void put_counters(ordered_json& out, const port_counters& counters) {
  out["frames_in"] = counters.frames_in;
  out["bytes_in"] = counters.bytes_in;
  out["frames_out"] = counters.frames_out;
  out["bytes_out"] = counters.bytes_out;
  out["dropped"] = counters.drops.total();
  out["drops"] = drops_json(counters.drops);
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

template <class T>
ordered_json value_or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::string_view name_of(network_phase phase) {
  switch (phase) {
  case network_phase::starting:
    return "starting";
  case network_phase::up:
    return "up";
  case network_phase::stopping:
    break;
  }
  return "stopping";
}

std::string_view state_of(const network_snapshot& network, const port_snapshot& port) {
  if (!port.answered)
    return "silent";
  if (port.brief.flags.down)
    return "down";
  if (port.is_host())
    return network.host_up ? "up" : "down";
  return port.queue.stalled ? "stalled" : port.queue.blocked ? "blocked" : "up";
}

std::string_view name_of(lease_info::state state) {
  switch (state) {
  case lease_info::state::offered:
    return "offered";
  case lease_info::state::bound:
    return "bound";
  case lease_info::state::declined:
    return "declined";
  case lease_info::state::in_use:
    return "in_use";
  case lease_info::state::ended:
    break;
  }
  return "ended";
}

bool is_wanted(const network_snapshot& network, std::string_view name) {
  return name.empty() || network.name == name;
}

std::vector<const mac_snapshot*> sorted_macs(const network_snapshot& network) {
  std::vector<const mac_snapshot*> sorted;
  for (const auto& mac : network.macs)
    sorted.push_back(&mac);
  // One that moved within the table while it was read may be there twice.
  std::ranges::sort(sorted, {}, [](const auto* mac) {
    return std::tuple{mac->address, mac->age_s};
  });
  // std::unique, since clang 14 cannot do the one of ranges.
  sorted.erase(std::unique(sorted.begin(), sorted.end(),
                           [](const auto* a, const auto* b) { return a->address == b->address; }),
               sorted.end());
  return sorted;
}

ordered_json port_with_macs(const network_snapshot& network, const port_snapshot& port,
                            const std::vector<std::string>& macs,
                            std::chrono::system_clock::time_point now) {
  ordered_json out;
  out["name"] = port.brief.name;
  out["alias"] = text_or_null(port.brief.alias);
  out["network"] = network.name;
  out["kind"] = port.is_host() ? "host" : "vm";
  out["state"] = state_of(network, port);
  out["up"] = !port.brief.flags.down;
  out["isolated"] = port.brief.flags.isolated;
  out["listener"] = text_or_null(port.brief.listener);
  out["peer"] = text_or_null(port.brief.peer);
  out["pid"] = value_or_null(port.brief.process.pid);
  out["uid"] = value_or_null(port.brief.process.uid);
  out["since"] = time_text(port.brief.since);
  out["age_seconds"] = std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::seconds>(now - port.brief.since).count());
  out["macs"] = macs;
  out["mac_count"] = port.macs;
  put_counters(out, port.counters);
  out["queue"] = {
      {"frames", port.queue.frames},
      {"oldest_ms", std::chrono::duration<double, std::milli>(port.queue.oldest).count()}};
  return out;
}

} // namespace

ordered_json network_json(const network_snapshot& network) {
  ordered_json out;
  out["name"] = network.name;
  out["state"] = name_of(network.phase);
  out["mode"] = network.mode;
  out["host"] = text_or_null(network.host);
  out["host_up"] = network.host_up;
  out["host_restarts"] = network.restarts;
  out["subnet"] = text_or_null(network.subnet);
  out["gateway"] = text_or_null(network.gateway);
  out["mtu"] = network.mtu;
  out["ports"] = std::ranges::count_if(network.ports,
                                       [](const port_snapshot& port) { return !port.is_host(); });
  out["port_limit"] = network.port_limit;
  out["connections"] = network.connected;
  out["macs"] = network.mac_count;
  out["mac_limit"] = network.mac_limit;
  out["listeners"] = ordered_json::array();
  for (const auto& listener : network.listeners)
    out["listeners"].push_back({{"type", listener.datagram ? "dgram" : "stream"},
                                {"path", listener.path},
                                {"drops", drops_json(listener.drops)}});
  put_counters(out, network.totals());
  out["silent"] = network.silent;
  return out;
}

ordered_json port_json(const network_snapshot& network, const port_snapshot& port,
                       std::chrono::system_clock::time_point now) {
  std::vector<std::string> macs;
  for (const auto* mac : sorted_macs(network))
    if (mac->slot == port.brief.id.slot && macs.size() < macs_of_a_port)
      macs.push_back(to_string(mac->address));
  return port_with_macs(network, port, macs, now);
}

ordered_json networks_json(const daemon_snapshot& snapshot) {
  auto list = ordered_json::array();
  for (const auto& network : snapshot.networks)
    list.push_back(network_json(network));
  return {{"networks", std::move(list)}};
}

ordered_json ports_json(const daemon_snapshot& snapshot, std::string_view wanted,
                        std::chrono::system_clock::time_point now) {
  auto list = ordered_json::array();
  for (const auto& network : snapshot.networks) {
    if (!is_wanted(network, wanted))
      continue;
    std::unordered_map<std::uint32_t, std::vector<std::string>> macs; // by slot
    for (const auto* mac : sorted_macs(network))
      if (auto& of_port = macs[mac->slot]; of_port.size() < macs_of_a_port)
        of_port.push_back(to_string(mac->address));
    for (const auto& port : network.ports)
      list.push_back(port_with_macs(network, port, macs[port.brief.id.slot], now));
  }
  return {{"ports", std::move(list)}};
}

ordered_json macs_json(const daemon_snapshot& snapshot, std::string_view wanted,
                       std::string_view port) {
  auto list = ordered_json::array();
  for (const auto& network : snapshot.networks)
    if (is_wanted(network, wanted))
      for (const auto* mac : sorted_macs(network))
        if (port.empty() || mac->port == port || mac->alias == port)
          list.push_back({{"mac", to_string(mac->address)},
                          {"network", network.name},
                          {"port", text_or_null(mac->port)},
                          {"alias", text_or_null(mac->alias)},
                          {"age_seconds", mac->age_s}});
  return {{"macs", std::move(list)}};
}

ordered_json leases_json(const daemon_snapshot& snapshot, std::string_view wanted) {
  auto list = ordered_json::array();
  for (const auto& network : snapshot.networks)
    if (is_wanted(network, wanted))
      for (const auto& lease : network.services.leases)
        list.push_back({{"network", network.name},
                        {"address", to_string(lease.address)},
                        {"mac", to_string(lease.client)},
                        {"name", text_or_null(lease.name)},
                        {"state", name_of(lease.is)},
                        {"seconds_left", lease.left.count()}});
  return {{"leases", std::move(list)}};
}

ordered_json captures_json(const daemon_snapshot& snapshot, std::string_view wanted) {
  auto list = ordered_json::array();
  for (const auto& network : snapshot.networks)
    if (is_wanted(network, wanted))
      for (const auto& each : network.captures)
        list.push_back({{"id", each.id},
                        {"network", network.name},
                        {"port", text_or_null(each.port)},
                        {"filter", text_or_null(each.filter)},
                        {"since", time_text(each.since)},
                        {"frames", each.frames},
                        {"lost", each.lost}});
  return {{"captures", std::move(list)}};
}

std::string time_text(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

std::string to_text(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace vmswitch
