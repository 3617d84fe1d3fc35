#pragma once

#include "app/exit_code.hpp"
#include "app/reload/reloader.hpp"
#include "app/settings.hpp"

namespace vmswitch {

/// The first thing in main(): a SIGHUP that comes before run_daemon() can take it has to wait.
void prepare_signals();

/// Runs the networks of `settings` until a signal ends them, on the calling thread and the fixed
/// set of threads that it starts. Signals must be prepared, and
/// logging set up.
///
/// SIGTERM and SIGINT end it in good order within 2 seconds, whatever VMs do; a second one ends it
/// at once. SIGHUP has `load` read the configuration anew, and what differs changed. Readiness
/// (pidfile, service manager) is told when every network is up. Returns ok after a signal, else why
/// a network could not come up or go on.
exit_code run_daemon(const daemon_settings& settings, settings_loader load);

} // namespace vmswitch
