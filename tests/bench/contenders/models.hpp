#pragma once

#include "transport/owned_fd.hpp"

namespace vmswitch::bench {

/// The limit that a switch is compared with: joins the 1st with the 2nd connection, the 3rd with
/// the 4th and so on, and only reads and writes bytes (a blocking thread a direction). Takes
/// connections from `listener` until it breaks.
void run_relay(owned_fd listener);

/// The same for datagrams: joins the first two peers that send to `socket`, many datagrams a call,
/// in one thread.
void run_datagram_relay(owned_fd socket);

/// What a switch is measured against: a thread per connection reads one length and one frame and
/// writes them to every other connection, under one lock. As run_relay.
void run_flood(owned_fd listener);

/// The same with a host that has data for a VM (host_model), on one more thread, as a callback
/// from the system would be.
void run_flood_with_host(owned_fd listener);

} // namespace vmswitch::bench
