#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `log [LEVEL]`: shows or changes the level of the daemon's log.
std::unique_ptr<ctl_command> make_log_command();

} // namespace vmswitch
