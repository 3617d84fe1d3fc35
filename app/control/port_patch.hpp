#pragma once

#include <string_view>

#include "actors/port_change.hpp"
#include "transport/error.hpp"

namespace vmswitch {

/// The body of PATCH /v1/ports/{port}: {"name": "web", "isolated": true, "up": false}, of which one
/// must be there. A name that is null or empty takes the port's away. Pure.
result<port_change> parse_port_patch(std::string_view body);

} // namespace vmswitch
