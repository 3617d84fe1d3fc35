#pragma once

#include <vector>

#include "vmnet/dhcp/lease_table.hpp"
#include "vmnet/service_report.hpp"

namespace vmswitch {

/// What the table knows, for people, by address. Pure.
std::vector<lease_info> list_leases(const lease_table& table, lease_table::time_point now);

} // namespace vmswitch
