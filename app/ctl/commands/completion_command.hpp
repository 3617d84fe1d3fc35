#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `completion SHELL`: prints the script for a shell.
std::unique_ptr<ctl_command> make_completion_command();

/// `names KIND`, hidden: what such a script asks for, one name a line.
std::unique_ptr<ctl_command> make_names_command();

} // namespace vmswitch
