#pragma once

#include <functional>

#include "app/network_fleet.hpp"
#include "app/reload/reload_plan.hpp"
#include "transport/error.hpp"

namespace vmswitch {

/// Does one action of a plan; `done` is called once, at once or from the fleet's I/O context.
void perform(const reload_action& action, network_fleet& fleet,
             std::function<void(result<void>)> done);

} // namespace vmswitch
