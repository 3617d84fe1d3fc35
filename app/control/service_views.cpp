#include "app/control/service_views.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace vmswitch {

namespace {

using nlohmann::ordered_json;

bool is_wanted(const network_snapshot& network, std::string_view name) {
  return name.empty() || network.name == name;
}

// Then nobody knows what its host interface has.
bool is_silent(const network_snapshot& network) {
  return std::ranges::any_of(
      network.silent, [](const std::string& part) { return part == "network" || part == "host"; });
}

template <class Add>
ordered_json listing(const char* key, const daemon_snapshot& snapshot, std::string_view wanted,
                     Add add) {
  auto list = ordered_json::array();
  auto silent = ordered_json::array();
  for (const auto& network : snapshot.networks) {
    if (!is_wanted(network, wanted))
      continue;
    add(list, network);
    if (is_silent(network))
      silent.push_back(network.name);
  }
  return {{key, std::move(list)}, {"silent", std::move(silent)}};
}

} // namespace

ordered_json forward_json(std::string_view network, const forward_status& forward) {
  const auto& [listen, to, to_port] = forward.rule;
  ordered_json out{{"network", network},
                   {"rule", to_string(forward.rule)},
                   {"protocol", to_string(listen.protocol)},
                   {"listen_address", to_string(listen.address)},
                   {"listen_port", listen.port},
                   {"to", to_string(to)},
                   {"to_port", to_port}};
  out["address"] = forward.address ? ordered_json(to_string(*forward.address)) : ordered_json();
  const auto put = [&](const char* key, std::uint64_t forward_traffic::*member) {
    out[key] = forward.traffic ? ordered_json((*forward.traffic).*member) : ordered_json();
  };
  put("open", &forward_traffic::open);
  put("accepted", &forward_traffic::accepted);
  put("refused", &forward_traffic::refused);
  put("bytes_to_vm", &forward_traffic::bytes_to_vm);
  put("bytes_from_vm", &forward_traffic::bytes_from_vm);
  out["origin"] = forward.by.empty() ? "configuration" : "live";
  out["added_by"] = forward.by.empty() ? ordered_json() : ordered_json(forward.by);
  return out;
}

ordered_json forwards_json(const daemon_snapshot& snapshot, std::string_view wanted) {
  return listing("forwards", snapshot, wanted,
                 [](ordered_json& list, const network_snapshot& network) {
                   for (const auto& each : network.services.forwards)
                     list.push_back(forward_json(network.name, each));
                 });
}

ordered_json dns_json(const daemon_snapshot& snapshot, std::string_view wanted) {
  return listing("records", snapshot, wanted,
                 [](ordered_json& list, const network_snapshot& network) {
                   auto sorted = network.services.names;
                   std::ranges::sort(sorted, {}, [](const dns_entry& one) {
                     return std::tie(one.name, one.type, one.value);
                   });
                   for (const auto& one : sorted)
                     list.push_back({{"network", network.name},
                                     {"name", one.name},
                                     {"type", one.type},
                                     {"value", one.value},
                                     {"origin", one.origin}});
                 });
}

} // namespace vmswitch
