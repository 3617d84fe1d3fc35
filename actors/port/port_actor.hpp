#pragma once

#include <memory>
#include <string>

#include "actors/caf.hpp"
#include "actors/network_config.hpp"
#include "actors/port_flags.hpp"
#include "actors/port_id.hpp"
#include "transport/frame/slab.hpp"
#include "transport/link.hpp"

namespace vmswitch {

/// What a port needs to know. The link is handed over: nobody else may keep it.
struct port_config {
  port_id id;
  std::string name; // stable, for the log: "default.3"
  std::string via;  // the listener's socket
  caf::actor vm_switch;
  caf::actor supervisor; // told port_note
  std::shared_ptr<link> connection;
  std::shared_ptr<slab_stock> stock;
  std::uint32_t max_frame = 0;
  network_limits limits;
  port_flags flags{}; // to begin with
};

/// One VM's attachment: reads bursts from its link for the switch, and writes those of the switch.
/// Accepts frames_out, frames_received, link_dedicated, slab_returned, link_ready, egress_check,
/// detached, stop, report_counters, change_limits, set_port_flags. Sends attach_port, frames_in,
/// set_port_flags and detach_port to the switch, port_note and port_finished to the supervisor,
/// counters_report.
///
/// When its link ends it leaves by itself: first it asks the switch to be detached, and ends when
/// that has been done, so that every frame is accounted for.
caf::actor spawn_port(caf::actor_system& system, dispatch_queue* queue, port_config config);

} // namespace vmswitch
