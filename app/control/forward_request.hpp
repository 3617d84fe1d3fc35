#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "transport/error.hpp"
#include "vmnet/forward/forward_rule.hpp"

namespace vmswitch {

/// What POST /v1/forwards asks for.
struct forward_addition {
  std::string network; // empty: the only one
  forward_rule rule;
};
/// What DELETE /v1/forwards asks for.
struct forward_removal {
  std::string network; // empty: wherever it is
  forward_listen listen;
};

// Errors name the field and say what would be right; unknown fields are errors. Pure.

/// {"rule": "tcp 127.0.0.1:2222 -> web:22"}, or {"listen_port": 2222, "to": "web"} and, if they are
/// not the usual, protocol, listen_address and to_port; with "network" or without.
result<forward_addition> parse_forward_addition(std::string_view body);

/// listen, as in "tcp 127.0.0.1:2222", or listen_port and, if they are not the usual, protocol and
/// listen_address; with network or without.
result<forward_removal>
parse_forward_removal(const std::map<std::string, std::string, std::less<>>& parameters);

} // namespace vmswitch
