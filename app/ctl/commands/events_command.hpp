#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `events`: shows what happens, as it happens.
std::unique_ptr<ctl_command> make_events_command();

} // namespace vmswitch
