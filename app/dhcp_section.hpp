#pragma once

#include "app/config_report.hpp"
#include "app/toml_section.hpp"
#include "vmnet/dhcp/dhcp_config.hpp"

namespace vmswitch {

/// Reads the DHCP settings of a network: `[network.dhcp]` and every `[[network.reservation]]`.
/// All mistakes are reported. Addresses are judged by `host`, if it is right; `host_is_right` is
/// false where its own mistakes have been reported. `lease_file` is left as it is written.
dhcp_config read_dhcp(toml_section& network, const host_config& host, bool host_is_right,
                      config_report& report);

} // namespace vmswitch
