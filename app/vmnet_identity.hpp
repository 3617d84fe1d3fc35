#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/settings.hpp"

namespace vmswitch {

/// The options of socket_vmnet that say which network it is, as they were written. vmnet.framework
/// and Linux have little in common here.
struct vmnet_identity {
  std::optional<std::string> interface_id;       ///< --vmnet-interface-id
  std::optional<std::string> network_identifier; ///< --vmnet-network-identifier
  std::optional<std::string> nat66_prefix;       ///< --vmnet-nat66-prefix
};

/// Lays them over the settings, after the mode has been chosen.
///
/// The prefix is that of the only network. An identifier names a network in mode `host`: as in
/// vmnet.framework it has no DHCP server then, and its IPv6 prefix follows from the identifier,
/// where none is given. An interface's identifier gives vmnet its MAC address, and ours need none.
///
/// What is wrong is added to `complaints`; what was accepted and changes nothing, to `notes`.
void put_identity(daemon_settings& settings, const vmnet_identity& identity,
                  std::vector<std::string>& complaints, std::vector<std::string>& notes);

} // namespace vmswitch
