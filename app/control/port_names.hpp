#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "actors/inspect/snapshot.hpp"

namespace vmswitch {

/// A port, and where it is.
struct named_port {
  const network_snapshot* network;
  const port_snapshot* port;
};

/// The ports with this name, or, if there is none, with this alias; of one network or, if `network`
/// is empty, of all. More than one only where several networks have it: "host". Pure; they point
/// into `seen`.
std::vector<named_port> ports_named(const daemon_snapshot& seen, std::string_view name,
                                    std::string_view network);

} // namespace vmswitch
