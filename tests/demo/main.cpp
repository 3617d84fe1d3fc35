// vmswitch-demo SOCKET: simulated VMs on a running daemon. Exits 0 only if the network did well.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <sysexits.h>

#include "tests/demo/scenario.hpp"

namespace {

using namespace vmswitch;

constexpr std::string_view usage =
    "usage: vmswitch-demo [--dgram] [--no-gateway] SOCKET\n"
    "Plugs three simulated VMs into the vmswitchd that listens on SOCKET, lets them get addresses\n"
    "by DHCP, ping each other and the gateway, and sends frames from one to another.\n"
    "  --dgram       SOCKET is a datagram socket\n"
    "  --no-gateway  for an isolated network: no DHCP, no gateway\n";

std::optional<demo::options> parse(int argc, char** argv) {
  demo::options chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--no-gateway")
      chosen.gateway = false;
    else if (argument == "--dgram")
      chosen.datagrams = true;
    else if (argument.starts_with('-') || !chosen.socket.empty())
      return std::nullopt;
    else
      chosen.socket = argument;
  }
  return chosen.socket.empty() ? std::nullopt : std::optional{chosen};
}

void print(const demo::report& seen) {
  fmt::print("{:<8}{:<20}{:<18}{}\n", "vm", "mac", "address", "pings answered");
  for (const auto& vm : seen.vms) {
    std::string from;
    for (const auto& ping : vm.pings)
      if (ping.answered)
        from += (from.empty() ? "" : ", ") + ping.target;
    fmt::print("{:<8}{:<20}{:<18}{} of {} ({})\n", vm.name, vm.mac, vm.address,
               std::ranges::count_if(vm.pings, &demo::vm_report::ping::answered), vm.pings.size(),
               from);
  }
  const auto& moved = seen.transfer;
  fmt::print("\n{:<8}{:<8}{:>12}{:>10}{:>8}{:>12}{:>17}\n", "from", "to", "frames", "Gbit/s",
             "lost", "reordered", "flooded to idle");
  fmt::print("{:<8}{:<8}{:>12}{:>10.2f}{:>8}{:>12}{:>17}\n", moved.from, moved.to, moved.sent,
             moved.gbits_per_second, moved.lost, moved.reordered, seen.flooded);
}

} // namespace

int main(int argc, char** argv) {
  const auto chosen = parse(argc, argv);
  if (!chosen) {
    fmt::print(stderr, "{}", usage);
    return EX_USAGE;
  }
  const auto seen = demo::run(*chosen);
  if (!seen) {
    fmt::print(stderr, "vmswitch-demo: {}\n", seen.error().text);
    return EX_UNAVAILABLE;
  }
  print(*seen);
  const auto found = demo::complaints(*seen);
  for (const auto& complaint : found)
    fmt::print(stderr, "vmswitch-demo: {}\n", complaint);
  return found.empty() ? EX_OK : EXIT_FAILURE;
}
