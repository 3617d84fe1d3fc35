#pragma once

#include <memory>
#include <vector>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

void add_show_commands(std::vector<std::unique_ptr<ctl_command>>& commands);

} // namespace vmswitch
