#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "actors/inspect/snapshot.hpp"

namespace vmswitch {

// How forwards and DNS records look as JSON; see json_views.hpp. Pure.

nlohmann::ordered_json forward_json(std::string_view network, const forward_status& forward);

/// Lists, of one network or, if `network` is empty, of all; and which of these did not answer.
nlohmann::ordered_json forwards_json(const daemon_snapshot& snapshot, std::string_view network);
/// By network, name, type and value.
nlohmann::ordered_json dns_json(const daemon_snapshot& snapshot, std::string_view network);

} // namespace vmswitch
