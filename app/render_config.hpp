#pragma once

#include <string>

#include "app/settings.hpp"

namespace vmswitch {

/// The settings as a configuration file, every value written out. Parsed again with a file name
/// without folder it gives the same settings. What was left to a default that depends on the
/// machine or on another value stands there as a comment.
std::string render_config(const daemon_settings& settings);

} // namespace vmswitch
