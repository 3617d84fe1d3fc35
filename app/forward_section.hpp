#pragma once

#include <map>
#include <utility>
#include <vector>

#include "actors/network_config.hpp"
#include "app/config_report.hpp"
#include "app/toml_section.hpp"

namespace vmswitch {

/// Where the forwards of all networks listen, and in which line, by protocol and port.
using forward_places = std::map<std::pair<forward_protocol, std::uint16_t>,
                                std::vector<std::pair<forward_listen, toml::source_index>>>;

/// Reads every `[[network.forward]]`. All mistakes are reported, among them a place to listen that
/// is in `taken`, to which new ones are added. Targets are judged by `network`, of which host and
/// dhcp have been read, if `host_is_right`.
std::vector<forward_rule> read_forwards(toml_section& section, const network_config& network,
                                        bool host_is_right, forward_places& taken,
                                        config_report& report);

} // namespace vmswitch
