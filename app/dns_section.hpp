#pragma once

#include "app/config_report.hpp"
#include "app/toml_section.hpp"
#include "vmnet/dns/dns_config.hpp"

namespace vmswitch {

/// Reads the DNS settings of a network: `[network.dns]` with every `[[network.dns.record]]`. All
/// mistakes are reported.
dns_config read_dns(toml_section& network, const host_config& host, config_report& report);

} // namespace vmswitch
