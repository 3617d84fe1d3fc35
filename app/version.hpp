#pragma once

#include <string_view>

namespace vmswitch {

/// "0.1.0", from the project's CMakeLists.txt.
std::string_view version() noexcept;

} // namespace vmswitch
