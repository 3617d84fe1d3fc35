#include "app/control/port_names.hpp"

namespace vmswitch {

namespace {

std::vector<named_port> ports_with(const daemon_snapshot& seen, std::string_view network,
                                   std::string_view name, std::string port_brief::*kind) {
  std::vector<named_port> found;
  for (const auto& each : seen.networks)
    if (network.empty() || each.name == network)
      for (const auto& port : each.ports)
        if (port.brief.*kind == name)
          found.push_back({&each, &port});
  return found;
}

} // namespace

std::vector<named_port> ports_named(const daemon_snapshot& seen, std::string_view name,
                                    std::string_view network) {
  auto found = ports_with(seen, network, name, &port_brief::name);
  return found.empty() && !name.empty() ? ports_with(seen, network, name, &port_brief::alias)
                                        : found;
}

} // namespace vmswitch
