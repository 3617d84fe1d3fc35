#pragma once

#include <memory>

#include "actors/caf.hpp"
#include "actors/host/host_forwards.hpp"
#include "actors/network_config.hpp"
#include "actors/port_id.hpp"
#include "transport/frame/slab.hpp"
#include "vmnet/host_interface.hpp"

namespace vmswitch {

struct host_actor_config {
  port_id id;
  caf::actor vm_switch;
  caf::actor supervisor; // told host_state at every start
  std::unique_ptr<host_interface> backend;
  std::shared_ptr<slab_stock> stock;
  std::uint32_t max_frame = 0;
  network_limits limits;
  forward_setup forwards = {};
};

/// The host's attachment: runs a host interface on a serial queue, as one more port of the switch.
/// Accepts frames_out, slab_returned, link_ready, host_restart, detached, stop, report_counters,
/// forward_add, forward_remove, forward_list, change_limits, set_port_flags, adjust_host,
/// replace_host. Sends attach_port, frames_in, set_port_flags and detach_port to the switch,
/// host_state, part_changed and service_note to the supervisor, counters_report, forward_answer
/// and forward_listing.
///
/// It starts its backend at once, then opens the forwards. If the first start fails it says so and
/// ends: a network that cannot come up is reported, not waited for. A backend that fails later is
/// started again, after 1, 2, 4 ... 30 seconds, and meanwhile frames for the host are counted as
/// host_refused.
caf::actor spawn_host(caf::actor_system& system, dispatch_queue* queue, host_actor_config config);

} // namespace vmswitch
