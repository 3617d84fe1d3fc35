#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `reload [--dry-run]`: has the daemon read its configuration again.
std::unique_ptr<ctl_command> make_reload_command();

} // namespace vmswitch
