#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `top`: ports by traffic, live.
std::unique_ptr<ctl_command> make_top_command();

} // namespace vmswitch
