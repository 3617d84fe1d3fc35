#pragma once

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <iterator>

#include <doctest/doctest.h>

#include "tests/vmnet/nat_guest.hpp"
#include "vmnet/user_addresses.hpp"
#include "vmnet/user_host.hpp"

namespace vmswitch::test {

inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// A started user-mode NAT with one VM that has taken an address without asking.
struct nat_fixture {
  explicit nat_fixture(const host_config& wanted = {},
                       user_host::clock::time_point (*now)() = user_host::clock::now)
      : config{wanted}, host{config, now} {
    std::signal(SIGPIPE, SIG_IGN); // as the daemon does
    const auto started = host.start(log);
    REQUIRE_MESSAGE(started, (started ? "" : started.error().text));
  }

  /// What the VM writes to send to `to` through the gateway.
  route way_to(ipv4_address to) const {
    return {guest.mac, user_mac_for(config.gateway), address, to};
  }
  route way_to_gateway() const { return way_to(config.gateway); }
  /// Makes libslirp know the VM, so that it need not ask for its MAC address.
  void introduce() {
    guest.send(arp_request(guest.mac, address, config.gateway));
    REQUIRE(guest.await([](const frame& bare) { return parse_arp(bare).has_value(); }));
  }

  host_config config;
  ipv4_address address = config.subnet.at(14);
  frame_log log;
  user_host host;
  nat_guest guest{host, log};
};

} // namespace vmswitch::test
