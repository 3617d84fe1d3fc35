#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "vmnet/tap/device_plan.hpp"

namespace vmswitch {

// A step that is to be taken back on someone's TAP, as text that outlives the daemon (see
// nat_rules.hpp): "address4 192.168.105.1/24", "mtu 1400", "setting ipv4/arp_ignore=0", "up". Pure.

/// Nothing for steps of our own devices, and for bridges, whose networks keep no record.
std::optional<std::string> to_record(const device_step& undo);

/// Nothing for any other text: it may be anybody's work, and what comes out of it is done as root.
std::optional<device_step> from_record(std::string_view record);

} // namespace vmswitch
