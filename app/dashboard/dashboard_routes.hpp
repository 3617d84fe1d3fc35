#pragma once

#include "app/control/router.hpp"

namespace vmswitch {

/// Adds the page: "/", and the files it is made of below "/dashboard/". Who may look at the daemon
/// may have them.
void add_dashboard(router& routes);

} // namespace vmswitch
