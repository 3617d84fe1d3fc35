#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "transport/error.hpp"
#include "vmnet/host_config.hpp"
#include "vmnet/tap/device_plan.hpp"
#include "vmnet/tap/forwarding_plan.hpp"

namespace vmswitch {

// The nftables rules of a network, as text for libnftables (nft(8)). Pure.
//
// Theory of operation. Each shared network has a table of its own, named after its device, made in
// one transaction and removed as a whole. It holds all there is to know when the daemon has been
// killed: what was changed under /proc/sys stands in it as sets, whose names say which setting
// ("was_ipv4_forwarding_0_1") and whose elements say on which devices. So the next start can take
// back what the last one did, without a file. What was done to a TAP that somebody had ready, and
// that is there when the daemon is not, stands in the comments of the set "undo".
//
// Rules of other tables stay in force: a host firewall that drops forwarded packets drops these.

/// Makes the table anew: for `shared` forwarding and translation, for `host` a fence that nothing
/// is forwarded through. In both, IPv6 packets of VMs whose source is not of the network are
/// dropped and counted before the host sees them. `undo` is remembered in it.
std::string nat_rules(const host_config& config, const std::string& device,
                      const forwarding_plan& plan, const std::vector<device_step>& undo = {});

/// Removes the table of a device, which may be missing.
std::string without_nat_rules(const std::string& device);

/// The commands that list all tables, and the table of one device.
std::string list_tables();
std::string list_table(const std::string& device);

/// The devices whose tables are ours, from libnftables' JSON for list_tables().
std::vector<std::string> devices_in(std::string_view json);
/// The changes that a table records, in order, from the JSON for list_table(). What is no record of
/// ours is left out.
std::vector<setting_change> changes_in(std::string_view json);
/// How many rules a table has, from the same.
std::size_t rules_in(std::string_view json);
/// The steps that it remembers, in the order of nat_rules(), from the same.
std::vector<device_step> undo_in(std::string_view json);

} // namespace vmswitch
