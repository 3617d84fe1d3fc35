#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `capture`: frames of a network or a port, live, as pcapng into a file or another program.
std::unique_ptr<ctl_command> make_capture_command();

} // namespace vmswitch
