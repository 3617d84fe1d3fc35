#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "actors/inspect/snapshot.hpp"

namespace vmswitch {

// How a snapshot looks as JSON: what /v1 answers, as openapi.json describes it. Pure.

/// MAC addresses that are named with a port; `mac_count` says how many there are.
inline constexpr std::size_t macs_of_a_port = 16;

nlohmann::ordered_json network_json(const network_snapshot& network);
nlohmann::ordered_json port_json(const network_snapshot& network, const port_snapshot& port,
                                 std::chrono::system_clock::time_point now);

/// Lists, of one network or, if `network` is empty, of all.
nlohmann::ordered_json networks_json(const daemon_snapshot& snapshot);
nlohmann::ordered_json ports_json(const daemon_snapshot& snapshot, std::string_view network,
                                  std::chrono::system_clock::time_point now);
/// Of one port, by its name or its alias, or, if `port` is empty, of all.
nlohmann::ordered_json macs_json(const daemon_snapshot& snapshot, std::string_view network,
                                 std::string_view port);
nlohmann::ordered_json leases_json(const daemon_snapshot& snapshot, std::string_view network);

nlohmann::ordered_json captures_json(const daemon_snapshot& snapshot, std::string_view network);

/// "2026-01-31T12:00:00Z"
std::string time_text(std::chrono::system_clock::time_point time);

/// On one line, with U+FFFD in place of what is not UTF-8: names may come from VMs.
std::string to_text(const nlohmann::ordered_json& value);

} // namespace vmswitch
