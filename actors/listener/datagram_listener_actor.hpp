#pragma once

#include <memory>

#include "actors/caf.hpp"
#include "actors/network_config.hpp"
#include "transport/datagram_socket.hpp"
#include "transport/frame/slab.hpp"

namespace vmswitch {

struct datagram_listener_config {
  std::shared_ptr<datagram_socket> socket;
  caf::actor supervisor;
  std::shared_ptr<slab_stock> stock;
  std::uint32_t max_frame = 0;
  network_limits limits;
};

/// Receives for all peers of a datagram socket: a new peer is announced to the supervisor
/// (`connected`), frames of a known one go to its port (frames_received).
/// Accepts port_started, peer_gone, slab_returned, stop, report_counters, change_limits,
/// change_access.
///
/// One socket is one slab budget: while the frames of its peers wait at a receiver that does not
/// drain, none of them is read, for at most that receiver's egress deadline. Frames of a peer whose
/// port is being made wait here, at most 16 bursts of them.
caf::actor spawn_datagram_listener(caf::actor_system& system, dispatch_queue* queue,
                                   datagram_listener_config config);

} // namespace vmswitch
