#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `port set PORT ...`: changes a port while it is there.
std::unique_ptr<ctl_command> make_port_command();

} // namespace vmswitch
