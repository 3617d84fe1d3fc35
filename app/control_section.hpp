#pragma once

#include <functional>
#include <string>

#include "app/settings.hpp"
#include "app/toml_section.hpp"

namespace vmswitch {

/// Reads the keys of `[daemon]` that are about the control socket. `resolve` makes a path absolute.
control_settings read_control(toml_section& daemon,
                              const std::function<std::string(const std::string&)>& resolve);

} // namespace vmswitch
