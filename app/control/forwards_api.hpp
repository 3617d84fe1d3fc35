#pragma once

#include "app/control/control_hooks.hpp"
#include "app/control/router.hpp"

namespace vmswitch {

/// Adds POST and DELETE /v1/forwards, by which forwards come and go while the daemon runs. Their
/// list is a look into the daemon like others.
///
/// Theory of operation. A request is parsed, then its network is looked for in a picture of the
/// daemon, then the order is placed with that network, and its answer is the client's. What an
/// order has changed is looked at once more to be shown. None of it waits on the control thread.
/// Both outlive the router.
void add_forward_changes(router& routes, const control_hooks& hooks);

} // namespace vmswitch
