#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `forward list|add|rm`: shows port forwards, and changes them while the daemon runs.
std::unique_ptr<ctl_command> make_forward_command();

} // namespace vmswitch
