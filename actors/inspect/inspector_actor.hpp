#pragma once

#include "actors/caf.hpp"

namespace vmswitch {

/// Looks into the daemon for whoever asks, without holding anything up.
/// Accepts watch_networks, inspect, stop, and the answers: network_report, counters_report,
/// switch_report, port_gone. Sends inspect_network.
///
/// Theory of operation. A question goes to all networks, these pass it on to their parts, and all
/// answer here. Who has not answered after `patience` is left out of the picture, which says so.
/// There is one round at a time: who asks meanwhile waits for the next one, so that any number of
/// askers costs the networks one round, and nobody is told what was true before he asked. Between
/// the starts of two rounds lie at least `pause`.
caf::actor spawn_inspector(caf::actor_system& system);

} // namespace vmswitch
