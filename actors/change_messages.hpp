#pragma once

/// The messages by which a network is changed while it runs; the others are in messages.hpp.
/// Those with a ticket come from the network's owner, and are answered once, by a network_event.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actors/network_config.hpp"
#include "vmnet/host_interface.hpp"

namespace vmswitch {

/// owner -> supervisor -> switch, ports, listeners, host: other limits from now on.
struct change_limits {
  std::uint64_t ticket = 0;
  network_limits limits;
};
/// owner -> supervisor: open one more socket.
struct add_listener {
  std::uint64_t ticket = 0;
  listen_config listener;
};
/// owner -> supervisor: close the socket of this path, and the ports of VMs that came through it.
struct remove_listener {
  std::uint64_t ticket = 0;
  std::string path;
};
/// owner -> supervisor -> the listener of this path, which answers part_changed: other group and
/// mode. The supervisor sees to other isolation.
struct change_access {
  std::uint64_t ticket = 0;
  listen_config access;
};
/// owner -> supervisor: other settings of the services that run in front of the host.
struct change_services {
  std::uint64_t ticket = 0;
  network_config config; // host, dhcp, dns
};
/// owner -> supervisor: another host interface, or the same with other settings.
struct change_host {
  std::uint64_t ticket = 0;
  network_config config; // host, dhcp, dns
};
/// supervisor -> host: call this with your host interface, on your thread; answered part_changed.
struct adjust_host {
  std::uint64_t ticket = 0;
  std::function<void(host_interface&)> adjust;
  dhcp_config dhcp; // whose reservations forwards follow
};
/// owner -> supervisor: begin, or end, a forward.
struct add_forward {
  std::uint64_t ticket = 0;
  forward_rule rule;
};
struct remove_forward {
  std::uint64_t ticket = 0;
  forward_listen listen;
};
/// supervisor -> host: stop your host interface and start this one in its place; if it does not
/// start, go on with the old one. Answered part_changed.
struct replace_host {
  std::uint64_t ticket = 0;
  std::shared_ptr<std::unique_ptr<host_interface>> next; // taken out
  network_config config;                                 // what it is made of, for forwards
};
/// listener, host -> supervisor: what came of it; `failure` is empty if it was done.
struct part_changed {
  std::uint64_t ticket = 0;
  std::string failure;
};

} // namespace vmswitch
