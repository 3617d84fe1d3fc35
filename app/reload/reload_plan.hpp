#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/settings.hpp"

namespace vmswitch {

/// One step on the way from one configuration to another. Done whole, or not at all.
struct reload_action {
  /// In the order in which they are done: what is given up may be wanted by what comes.
  enum class what : std::uint8_t {
    change_log,
    remove_network,  ///< its VMs are disconnected
    remove_listener, ///< the VMs that came through it are disconnected
    remove_forward,  ///< its connections end
    change_host,     ///< restarts the host interface: connections through it end, VMs stay
    change_services, ///< in the running servers; leases stay
    change_limits,   ///< of what is there, connected VMs included
    change_listener, ///< group and mode of the socket's file; isolation of its VMs
    add_listener,
    add_forward,
    add_network,
  } kind;
  std::string text; ///< for people, with the values before and after

  log_settings log;       ///< of change_log
  network_config network; ///< which, by its name; and, but for listeners, what it is to be like
  listen_config listener; ///< of *_listener
  forward_rule forward;   ///< of *_forward
};

/// A difference that stays one until the next start.
struct held_setting {
  std::string text; ///< "workers 2 -> 4"
  std::string why;
};

struct reload_plan {
  std::vector<reload_action> actions;
  std::vector<held_setting> held;
};

/// What has to be done for a daemon that runs as `now` says to run as `next` says.
///
/// Theory of operation. Networks are told apart by name, and the listeners of a network by path and
/// type; the order in which they stand means nothing. What is the same on both sides has no action,
/// so nobody who uses it notices anything. What cannot change while the daemon runs is held back
/// with its reason, and the rest of the plan is made as if that difference were not there. A
/// setting that is not known here is held back as well, never passed over. What is no setting, such
/// as a forward that somebody has added since, is in neither, and stays.
/// Pure. @pre both are valid: see parse_config()
reload_plan plan_reload(const daemon_settings& now, const daemon_settings& next);

/// What a daemon's settings are once the action has been done.
void apply(const reload_action& action, daemon_settings& settings);

} // namespace vmswitch
