#pragma once

#include "actors/caf.hpp"
#include "transport/listening_socket.hpp"

namespace vmswitch {

/// Accepts VMs on a stream socket and hands their links to the supervisor (`connected`).
/// Accepts stop, accept_again, port_started, change_access, change_limits. Out of descriptors, it
/// pauses and leaves the rest in the backlog instead of spinning. @pre socket.type() is stream
caf::actor spawn_stream_listener(caf::actor_system& system, dispatch_queue* queue,
                                 listening_socket socket, caf::actor supervisor);

} // namespace vmswitch
