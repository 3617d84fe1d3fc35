#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actors/inspect/snapshot.hpp"
#include "actors/network/forward_order.hpp"
#include "actors/port_change.hpp"
#include "app/control/http_types.hpp"
#include "app/control/loopback_endpoint.hpp"
#include "app/settings.hpp"
#include "transport/error.hpp"

namespace vmswitch {

class capture_tap;
struct reload_report;

/// What the control API needs of the daemon. All are called on the control thread and must only
/// send or post; their answers may come on any thread. One that is empty is something that this
/// daemon cannot do, and the API says so.
struct control_hooks {
  std::function<void(inspection_scope, std::function<void(std::shared_ptr<const daemon_snapshot>)>)>
      inspect;
  std::function<log_level()> log_level_now;
  std::function<void(log_level)> set_log_level;
  /// Reloads, or tells what a reload would do; `done` is called once, on any thread.
  std::function<void(bool dry_run, std::function<void(const reload_report&)> done)> reload;
  /// Has a network begin or end a forward.
  std::function<void(forward_order)> order_forward;
  /// Into the network of this name, if there is one; without one the tap goes.
  std::function<void(const std::string& network, std::shared_ptr<capture_tap>)> start_capture;
  std::function<void(const std::string& network, std::uint64_t id)> stop_capture;
  /// Has the network of this name change a port; without one its reply goes, which answers.
  std::function<void(const std::string& network, change_port wanted)> change_port{};
  /// A port for a browser, for as long as the stream is there.
  std::function<result<std::unique_ptr<stream_source>>(const loopback_endpoint&, control_role)>
      open_dashboard;
};

} // namespace vmswitch
