#pragma once

#include <cstdint>
#include <string>

#include "actors/caf.hpp"
#include "actors/network_config.hpp"

namespace vmswitch {

/// The switch of one network: forwards bursts between its ports.
/// Accepts frames_in, attach_port, detach_port, set_port_flags, capture_start, capture_stop,
/// report_counters, change_limits, stop. Sends frames_out and detached to ports (on stop to all
/// that are left), switch_report, and happened to `supervisor` if there is one. `seed` makes the
/// MAC table's hashing unpredictable.
caf::actor spawn_switch(caf::actor_system& system, dispatch_queue* queue, std::string network,
                        const network_limits& limits, std::uint64_t seed,
                        caf::actor supervisor = {});

} // namespace vmswitch
