#pragma once

#include <optional>
#include <string>

#include "app/vmnet_identity.hpp"
#include "vmnet/host_config.hpp"

namespace CLI {
class App;
}

namespace vmswitch {

/// The command line of vmswitchd as text. Values are judged by us and not by CLI11, which stops at
/// the first.
struct raw_options {
  std::optional<std::string> socket, config, mode, interface, gateway, dhcp_end, mask, group,
      socket_mode, pidfile, control, dashboard, user, user_group, level, format, workers;
  vmnet_identity identity;
  bool disable_dhcp = false;
  bool check = false;
  bool version = false;
};

/// What is made of SOCKET where there is no file.
struct called_as {
  std::string program;
  host_mode mode;
};

/// Declares the options of vmswitchd, which are put into `raw`. It must outlive `app`.
void declare(CLI::App& app, raw_options& raw, const called_as& called);

} // namespace vmswitch
