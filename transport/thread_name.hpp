#pragma once

#include <string>

namespace vmswitch {

/// Names the calling thread for debuggers and top; at most 15 characters are kept.
void name_this_thread(const std::string& name) noexcept;

} // namespace vmswitch
