#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/caf.hpp"
#include "actors/complaint_limiter.hpp"
#include "actors/network_config.hpp"
#include "vmnet/host_interface.hpp"
#include "vmnet/service_note.hpp"

namespace vmswitch {

/// The host interface of a network: `backend` with the network's services in front of it, not yet
/// started. What they have to say is sent to `supervisor` as service_note. Never null.
std::unique_ptr<host_interface> make_network_host(const network_config& config,
                                                  std::unique_ptr<host_interface> backend,
                                                  const caf::actor_addr& supervisor);

/// What gives the services of such a host interface, while they run, the settings of `config`. To
/// be called on the host's thread. @pre they are the same services, then and now
std::function<void(host_interface&)> make_service_change(const network_config& config);

/// Writes a note into the log, unless there are too many of its kind.
void log_note(const std::string& network, const service_note& note, complaint_limiter& limiter,
              complaint_limiter::clock::time_point now);

} // namespace vmswitch
