#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/settings.hpp"
#include "transport/error.hpp"

namespace vmswitch {

// Sockets that a service manager has opened for us, so that VMs may connect before we run, and find
// the same socket after a restart. The protocol is that of sd_listen_fds(3): descriptors from 3 on,
// and three variables that say how many, to whom, and under which names.
//
// Theory of operation. A descriptor belongs to the listener with its type and path; or else, since
// a path can have many spellings, to the only listener of its type in the network that it is named
// after (FileDescriptorName=). One that belongs to nobody is an error: VMs would wait at it for
// ever. A passed socket and its file stay the manager's.

/// The three variables.
struct activation_environment {
  std::optional<std::string> pid, fds, names;
};

/// What they say: descriptors 3, 4... with their names, or none if they are not for this process.
/// Pure. The error is about variables that cannot be.
result<std::vector<passed_socket>> passed_sockets(const activation_environment& environment,
                                                  int own_pid);

/// Gives every one of settings.passed to its listener, whose `inherited` it becomes. A descriptor
/// that is a network's `tap_fd` is left to that.
result<void> assign_sockets(daemon_settings& settings);

/// Both, with this process's environment, from which the variables are removed: they are not for
/// the programs that we start, nor are the descriptors. Called once, before there are threads.
result<void> take_passed_sockets(daemon_settings& settings);

} // namespace vmswitch
