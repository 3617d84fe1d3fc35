#include "vmnet/tap/device_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "vmnet/tap/tap_names.hpp"

namespace vmswitch {

namespace {

using what = device_step::what;

constexpr std::string_view ipv4_settings[] = {"ipv4/arp_ignore=1", "ipv4/rp_filter=1",
                                              "ipv4/accept_redirects=0", "ipv4/send_redirects=0",
                                              "ipv4/accept_source_route=0"};
// Without duplicate address detection, for which the first second would be lost: nobody else may
// have our address.
constexpr std::string_view ipv6_settings[] = {"ipv6/accept_ra=0",        "ipv6/autoconf=0",
                                              "ipv6/accept_redirects=0", "ipv6/accept_dad=0",
                                              "ipv6/dad_transmits=0",    "ipv6/addr_gen_mode=0"};

bool has(const device_state& found, const host_config& config) {
  return std::ranges::find(found.addresses4,
                           std::pair{config.gateway, config.subnet.prefix_length}) !=
         found.addresses4.end();
}

void plan_port(std::vector<device_step>& steps, const host_config& config,
               const device_state& found) {
  const auto mtu = found.bridge_mtu != 0 ? found.bridge_mtu : config.mtu;
  if (found.mtu != mtu && (found.ours || found.bridge.empty()))
    steps.push_back({what::mtu, fmt::to_string(mtu)});
  if (found.has_ipv6)
    steps.push_back({what::setting, "ipv6/disable_ipv6=1"});
  if (!config.interface.empty() && found.bridge != config.interface)
    steps.push_back({what::bridge, config.interface});
}

void plan_gateway(std::vector<device_step>& steps, const host_config& config,
                  const device_state& found) {
  if (found.mtu != config.mtu)
    steps.push_back({what::mtu, fmt::to_string(config.mtu)});
  for (const auto setting : ipv4_settings)
    steps.push_back({what::setting, std::string{setting}});
  const auto gateway6 = found.has_ipv6 ? gateway6_for(config) : std::nullopt;
  if (gateway6) {
    for (const auto setting : ipv6_settings)
      steps.push_back({what::setting, std::string{setting}});
  } else if (found.has_ipv6) {
    steps.push_back({what::setting, "ipv6/disable_ipv6=1"});
  }
  if (config.mode == host_mode::host) {
    // VMs reach the host and no further, even on a host that forwards for others.
    steps.push_back({what::setting, "ipv4/forwarding=0"});
    if (gateway6)
      steps.push_back({what::setting, "ipv6/forwarding=0"});
  }
  if (!has(found, config))
    steps.push_back({what::address4, gateway_with_prefix(config)});
  if (gateway6 && std::ranges::find(found.addresses6, *gateway6) == found.addresses6.end())
    steps.push_back({what::address6, fmt::format("{}/64", to_string(*gateway6))});
}

} // namespace

std::vector<device_step> plan_device(const host_config& config, std::string_view name,
                                     const device_state& found) {
  std::vector<device_step> steps;
  if (found.ours)
    steps.push_back({what::mac, to_string(device_mac_for(name))});
  if (config.mode == host_mode::bridged)
    plan_port(steps, config, found);
  else
    plan_gateway(steps, config, found);
  if (!found.up)
    steps.push_back({what::up, {}});
  return steps;
}

bool is_required(const device_step& step) {
  return step.kind == what::address4 || step.kind == what::bridge || step.kind == what::up;
}

std::optional<device_step> undo_of(const device_step& done, std::string_view before) {
  switch (done.kind) {
  case what::mac:
    break; // of our own devices only
  case what::mtu:
    return device_step{what::mtu, std::string{before}};
  case what::setting: {
    const auto name = done.value.substr(0, done.value.find('=') + 1);
    if (before.empty() || name + std::string{before} == done.value)
      break;
    return device_step{what::setting, name + std::string{before}};
  }
  case what::address4:
  case what::address6:
  case what::bridge:
  case what::up:
    return device_step{done.kind, done.value, true};
  }
  return {};
}

std::string command_for(std::string_view device, const device_step& step) {
  switch (step.kind) {
  case what::mac:
    return fmt::format("ip link set dev {} address {}", device, step.value);
  case what::mtu:
    return fmt::format("ip link set dev {} mtu {}", device, step.value);
  case what::setting: {
    const auto slash = step.value.find('/');
    return fmt::format("sysctl -w net/{}/conf/{}/{}", step.value.substr(0, slash), device,
                       step.value.substr(slash + 1));
  }
  case what::address4:
  case what::address6:
    return fmt::format("ip address {} {} dev {}", step.undo ? "del" : "add", step.value, device);
  case what::bridge:
    return step.undo ? fmt::format("ip link set dev {} nomaster", device)
                     : fmt::format("ip link set dev {} master {}", device, step.value);
  case what::up:
    return fmt::format("ip link set dev {} {}", device, step.undo ? "down" : "up");
  }
  return {};
}

std::string gateway_with_prefix(const host_config& config) {
  return fmt::format("{}/{}", to_string(config.gateway), config.subnet.prefix_length);
}

std::optional<ipv6_address> gateway6_for(const host_config& config) {
  if (!config.ipv6 || config.mtu < least_ipv6_mtu || config.mode == host_mode::bridged)
    return std::nullopt;
  return ipv6_host(ula_prefix_for(config), 1);
}

} // namespace vmswitch
