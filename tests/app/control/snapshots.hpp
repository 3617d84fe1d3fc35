#pragma once

#include "actors/inspect/snapshot.hpp"
#include "tests/support/bursts.hpp"

namespace vmswitch::test {

/// A daemon with one network "lab": the host, a VM that does well, one that is stuck and one that
/// did not answer; two addresses, a lease, two forwards, two names, and traffic of ports that have
/// gone.
inline daemon_snapshot lab_snapshot() {
  using namespace std::chrono_literals;
  network_snapshot network;
  network.name = "lab";
  network.phase = network_phase::up;
  network.mode = "user";
  network.host = "user-mode NAT";
  network.host_up = true;
  network.subnet = "192.168.105.0/24";
  network.gateway = "192.168.105.1";
  network.mtu = 1500;
  network.port_limit = 4096;
  network.mac_limit = 16384;
  network.mac_count = 2;
  network.connected = 5;
  network.listeners = {{"/tmp/lab.sock", false, {}}, {"/tmp/lab-dgram.sock", true, {}}};
  network.listeners[1].drops.add(drop_reason::no_return_address, 2);

  const auto add = [&](std::uint32_t slot, const char* name, bool answered) -> port_snapshot& {
    auto& port = network.ports.emplace_back();
    port.brief.id = {slot, 1};
    port.brief.name = name;
    port.brief.listener = slot == 0 ? "" : "/tmp/lab.sock";
    port.brief.peer = slot == 0 ? "user-mode NAT" : "pid 4711, uid 1000";
    if (slot != 0)
      port.brief.process = {4711, 1000};
    port.brief.since = std::chrono::system_clock::time_point{1'700'000'000s};
    port.answered = answered;
    return port;
  };
  add(0, "host", true).counters = {5, 500, 6, 600, {}};
  auto& fast = add(1, "lab.1", true);
  fast.counters = {10, 1000, 20, 2000, {}};
  fast.counters.drops.add(drop_reason::runt, 1);
  fast.macs = 20;
  fast.waited.add(3us, 15);
  fast.waited.add(2ms, 5);
  auto& stuck = add(2, "lab.2", true);
  stuck.counters.drops.add(drop_reason::egress_expired, 7);
  stuck.counters.drops.add(drop_reason::egress_stalled, 9);
  stuck.queue = {12, 49ms, true, true};
  add(3, "lab.3", false);
  network.silent = {"lab.3"};
  for (std::uint32_t i = 0; i < 20; ++i)
    network.macs.push_back({vm_mac(20 - i), 1, i, "lab.1"});
  network.macs.push_back({vm_mac(1), 1, 30, "lab.1"}); // seen twice while the table was read
  network.macs.push_back({vm_mac(99), 7, 2, {}});
  network.captures = {
      {7, "lab.1", "arp", std::chrono::system_clock::time_point{1'700'000'000s}, 5, 2},
      {8, {}, {}, std::chrono::system_clock::time_point{1'700'000'001s}, 0, 0}};
  network.services.dhcp = true;
  network.services.leases = {
      {ipv4_address{0xc0a86914}, vm_mac(1), lease_info::state::bound, 3600s, "web\x1b[31m"}};
  using rule = forward_rule;
  const ip_address here = ipv4_address{0x7f00'0001};
  network.services.forwards = {
      {rule{{forward_protocol::tcp, here, 2222}, std::string{"web"}, 22},
       ip_address{ipv4_address{0xc0a86914}}, forward_traffic{1, 5, 2, 1000, 2048}},
      {rule{{forward_protocol::udp, here, 53}, vm_mac(1), 5353}, {}, {}, "pid 4711, uid 1000"}};
  network.services.names = {{"web.vm.internal", "A", "192.168.105.20", "lease"},
                            {"db.vm.internal", "A", "192.168.105.50", "configuration"}};
  network.gone = {100, 10000, 200, 20000, {}};
  network.gone.drops.add(drop_reason::port_closed, 3);
  network.switch_drops.add(drop_reason::unknown_port, 4);

  daemon_snapshot seen;
  seen.networks.push_back(std::move(network));
  seen.scope = {true, true, true, true};
  return seen;
}

} // namespace vmswitch::test
