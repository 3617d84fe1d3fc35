#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/command_info.hpp"

namespace vmswitch {

/// The script that teaches a shell (bash, zsh, fish) to complete the program's commands, options
/// and their values; networks and ports are asked from the daemon (`names`). Nothing for another
/// shell. Pure.
std::optional<std::string> completion_script(const command_info& program, std::string_view shell);

} // namespace vmswitch
