#include "app/privileges.hpp"

#include <algorithm>

namespace vmswitch {

kept_privileges privileges_for(const daemon_settings& settings) {
  kept_privileges kept;
  if (!settings.user)
    kept.capabilities = {"chown", "dac_override", "fowner"};
  if (std::ranges::any_of(settings.networks, [](const network_config& network) {
        return uses_tap(network.host.mode);
      }))
    kept.capabilities.push_back("net_admin");
  // A forward opens its port anew when the address of its VM changes.
  if (std::ranges::any_of(settings.networks, [](const network_config& network) {
        return std::ranges::any_of(network.forwards, [](const forward_rule& rule) {
          return rule.listen.port < first_unprivileged_port;
        });
      }))
    kept.capabilities.push_back("net_bind_service");
  if (settings.control.group)
    kept.groups.push_back(*settings.control.group);
  for (const auto& network : settings.networks)
    for (const auto& listener : network.listeners)
      if (listener.group && std::ranges::find(kept.groups, *listener.group) == kept.groups.end())
        kept.groups.push_back(*listener.group);
  return kept;
}

} // namespace vmswitch
