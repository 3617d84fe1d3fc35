#pragma once

#include <string>

#include <sys/types.h>

#include "app/settings.hpp"
#include "transport/error.hpp"

namespace vmswitch {

/// Where a daemon of this user has its control socket unless it is told: `VMSWITCH_CONTROL`, or
/// /run/vmswitch for root, else $XDG_RUNTIME_DIR/vmswitch, else /tmp/vmswitch-UID; "control.sock"
/// there. "" (VMSWITCH_CONTROL=none): nowhere. Pure; null: not set.
std::string usual_control_path(uid_t user, const char* override, const char* runtime_folder);
/// The same for this process.
std::string usual_control_path();

/// Makes the folder of a usual path if it is not there, for `owner` alone to write to. One in /tmp
/// must be the owner's, and closed to others, or somebody else could stand in for the daemon.
result<void> make_control_folder(const std::string& socket, uid_t owner);

/// As long as we are root: makes the folder of the usual socket for whom the daemon will become. A
/// failure shows when the socket is made.
void prepare_control_folder(const daemon_settings& settings);

/// What a client tries that was not told: its own user's daemon, then the system's.
std::string find_control_socket();

} // namespace vmswitch
