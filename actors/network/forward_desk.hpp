#pragma once

#include "actors/caf.hpp"

namespace vmswitch {

/// Takes orders for forwards from outside the actors, and calls back when they are done.
/// Accepts watch_networks, forward_order, forward_answer, stop. Sends forward_add, forward_remove.
///
/// Theory of operation. An order goes to its network under a tag, by which the answer finds the
/// order again. A network that has not answered after `patience` is not waited for: it may do it
/// later. Each order is answered once, at the latest when the desk ends.
caf::actor spawn_forward_desk(caf::actor_system& system);

} // namespace vmswitch
