#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "app/control/control_hooks.hpp"
#include "app/control/event_ring.hpp"
#include "app/control/metrics.hpp"
#include "app/control/router.hpp"

namespace vmswitch {

/// What the API tells of the daemon itself.
struct control_facts {
  std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
  std::chrono::steady_clock::time_point started_steady = std::chrono::steady_clock::now();
  std::string socket;
  std::function<std::size_t()> connections; // to the control socket
};

/// Adds every resource under /v1 to `routes`; openapi.json describes them. All of it outlives the
/// router.
void add_control_api(router& routes, const control_hooks& hooks, const control_facts& facts,
                     event_ring& events);

/// Adds /metrics. `measure` tells what the snapshot does not.
void add_metrics(router& routes, const control_hooks& hooks,
                 std::function<metrics_facts()> measure);

} // namespace vmswitch
