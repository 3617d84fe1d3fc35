#pragma once

#include <string_view>

namespace vmswitch {

/// openapi.json of this folder, as text: compiled in, so that a daemon describes itself.
std::string_view openapi_json() noexcept;

} // namespace vmswitch
