#pragma once

#include <memory>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// `dashboard`: opens a port for a browser, until it is ended.
std::unique_ptr<ctl_command> make_dashboard_command();

} // namespace vmswitch
