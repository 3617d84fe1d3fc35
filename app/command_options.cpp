#include "app/command_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/setting_values.hpp"

namespace vmswitch {

void declare(CLI::App& app, raw_options& raw, const called_as& called) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.add_flag("-v,--version", raw.version, "Print the version and exit");
  app.add_option("SOCKET", raw.socket, "Unix stream socket that VMs connect to");
  app.add_option("--config", raw.config, "Configuration file (TOML)")->type_name("FILE");
  app.add_flag("--check", raw.check,
               "Validate the configuration, print what is in effect and exit");
  app.add_option(
         "--vmnet-mode", raw.mode,
         fmt::format("What the host is to the VMs: user (NAT), isolated, or with a network device "
                     "host, shared or bridged; default: {}",
                     to_string(called.mode)))
      ->type_name("MODE");
  app.add_option("--vmnet-interface", raw.interface,
                 "bridged: the bridge; host and shared: the network device to make or use")
      ->type_name("INTERFACE");
  app.add_option("--vmnet-gateway", raw.gateway,
                 "The host's address on the network; DHCP starts at the next one")
      ->type_name("ADDRESS");
  app.add_option("--vmnet-dhcp-end", raw.dhcp_end,
                 "Last address of DHCP; default: that of the gateway with 254 at its end")
      ->type_name("ADDRESS");
  app.add_option("--vmnet-mask", raw.mask, "Netmask; default: 255.255.255.0")->type_name("MASK");
  app.add_option("--vmnet-nat66-prefix", raw.identity.nat66_prefix,
                 "IPv6 prefix of VMs, a /64 out of fd00::/8; default: follows from the network")
      ->type_name("PREFIX::");
  app.add_option("--vmnet-network-identifier", raw.identity.network_identifier,
                 "host: no DHCP, and an IPv6 prefix that follows from this")
      ->type_name("UUID");
  app.add_option("--vmnet-interface-id", raw.identity.interface_id,
                 "Accepted, changes nothing on this system")
      ->type_name("UUID");
  app.add_flag("--vmnet-disable-dhcp", raw.disable_dhcp, "Give out no addresses");
  app.add_option("--socket-group", raw.group, "Group that may connect")->type_name("GROUP");
  app.add_option("--socket-mode", raw.socket_mode,
                 "Permissions of the socket; 0600, or 0660 with a group")
      ->type_name("OCTAL");
  app.add_option("-p,--pidfile", raw.pidfile,
                 "File for the process id, written once VMs can connect")
      ->type_name("FILE");
  app.add_option("--control", raw.control, "Control socket, for vmswitchctl; \"none\" for none")
      ->type_name("PATH");
  app.add_option("--dashboard", raw.dashboard,
                 "Loopback address where a browser finds the dashboard; the log has its URL")
      ->type_name("ADDRESS:PORT");
  app.add_option("--user", raw.user, "Started as root: the user to become")->type_name("USER");
  app.add_option("--group", raw.user_group, "... and the group; default: the user's")
      ->type_name("GROUP");
  app.add_option("--log-level", raw.level, "trace, debug, info, warn or error")->type_name("LEVEL");
  app.add_option("--log-format", raw.format, "text or json")->type_name("FORMAT");
  app.add_option("--workers", raw.workers, "Threads, 1 to 64; default: half the cores, at most 4")
      ->type_name("N");
}

} // namespace vmswitch
