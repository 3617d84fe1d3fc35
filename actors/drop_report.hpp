#pragma once

#include <string>

#include "transport/frame/port_counters.hpp"

namespace vmswitch {

/// "12 frames in, 30 out, 2 dropped (runt 1, oversize 1)", for the log.
std::string summary(const port_counters& counters);

/// "runt 1, oversize 1", or "none".
std::string summary(const drop_counters& drops);

} // namespace vmswitch
