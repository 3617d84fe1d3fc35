#include "vmnet/tap/missing_privilege.hpp"

#include <fmt/format.h>

#include "vmnet/tap/device_plan.hpp"

namespace vmswitch {

std::string missing_privilege(const host_config& config, const std::string& what) {
  std::string text = fmt::format(
      "{}: the capability CAP_NET_ADMIN is missing. Start the daemon as root. Without it: "
      "--vmnet-mode=user needs no privilege",
      what);
  switch (config.mode) {
  case host_mode::host:
    text += fmt::format("; or let an administrator make a TAP for you (ip tuntap add dev tap0 mode "
                        "tap user $USER; ip address add {} dev tap0; ip link set dev tap0 up) and "
                        "name it: interface = \"tap0\"",
                        gateway_with_prefix(config));
    break;
  case host_mode::bridged:
    text += fmt::format("; or install QEMU's setuid qemu-bridge-helper and allow the bridge to you "
                        "(\"allow {}\" in /etc/qemu/bridge.conf)",
                        config.interface.empty() ? "br0" : config.interface);
    break;
  case host_mode::shared:
  case host_mode::user:
  case host_mode::isolated:
    break;
  }
  return text;
}

} // namespace vmswitch
