#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/port_flags.hpp"
#include "actors/port_id.hpp"
#include "transport/frame/latency_histogram.hpp"
#include "transport/frame/mac_address.hpp"
#include "transport/frame/port_counters.hpp"
#include "transport/peer_identity.hpp"
#include "vmnet/service_report.hpp"

namespace vmswitch {

/// What a daemon looked like at one moment, more or less: its parts answer one after the other.
/// Plain data without CAF, read by whoever shows it.

/// Which parts are to be looked at; networks always are.
struct inspection_scope {
  bool ports = false;    // each port and the host: counters, queues
  bool macs = false;     // learned addresses
  bool services = false; // leases, forwards
  bool names = false;    // records of DNS
  bool asks_host() const noexcept { return ports || services || names; }
  friend bool operator==(inspection_scope, inspection_scope) = default;
};

struct queue_state {
  std::uint64_t frames = 0; // that wait to be sent to the VM
  std::chrono::nanoseconds oldest{0};
  bool blocked = false; // the VM takes nothing just now
  bool stalled = false; // and has not for a whole deadline: frames to it are dropped at once
};

/// What is known of a port without asking it.
struct port_brief {
  port_id id;
  std::string name;     // "default.3"; "host"
  std::string listener; // path of the socket that it came by; empty for the host
  std::string peer;     // for people
  peer_identity process;
  std::chrono::system_clock::time_point since;
  std::string alias{}; // another name, that a person has given it
  port_flags flags{};
};

struct port_snapshot {
  port_brief brief;
  bool answered = false;  // false: it did not tell in time, and what follows is empty
  port_counters counters; // with the switch's drops of frames that came from it
  queue_state queue;
  latency_histogram waited; // frames sent to the VM
  std::size_t macs = 0;     // learned behind it
  bool is_host() const noexcept { return brief.listener.empty(); }
};

struct mac_snapshot {
  mac_address address;
  std::uint32_t slot = 0;
  std::uint32_t age_s = 0; // since a frame came from it
  std::string port;        // name; empty if it has just gone
  std::string alias{};     // its port's
};

struct listener_snapshot {
  std::string path;
  bool datagram = false;
  drop_counters drops; // of a datagram listener: frames that reached no port
};

struct capture_snapshot {
  std::uint64_t id = 0;
  std::string port;   // empty: all
  std::string filter; // empty: none
  std::chrono::system_clock::time_point since;
  std::uint64_t frames = 0; // that its reader has got, or will
  std::uint64_t lost = 0;   // since it reads too slowly
};

enum class network_phase : std::uint8_t { starting, up, stopping };

struct network_snapshot {
  std::string name;
  network_phase phase = network_phase::starting;
  std::string mode;
  std::string host;           // what its backend says of itself; empty while there is none
  bool host_up = false;       // false in an isolated network
  std::uint64_t restarts = 0; // of the host's backend
  std::string subnet;         // empty where we do not own one
  std::string gateway;
  std::uint32_t mtu = 0;
  std::size_t port_limit = 0;
  std::size_t mac_limit = 0;
  std::size_t mac_count = 0;   // may include some that are too old
  std::uint64_t connected = 0; // ports since the start
  std::vector<listener_snapshot> listeners;
  std::vector<port_snapshot> ports; // the host first, if there is one
  std::vector<mac_snapshot> macs;
  std::vector<capture_snapshot> captures;
  service_report services;

  port_counters gone;              // of ports that have ended
  latency_histogram gone_waited;   // likewise
  drop_counters switch_drops;      // of frames whose port has ended
  std::vector<std::string> silent; // parts that did not answer in time

  /// Frames and drops of all that is and was on the network; "in" is from VMs and the host.
  port_counters totals() const;
  latency_histogram waited() const;
};

struct daemon_snapshot {
  std::vector<network_snapshot> networks;
  inspection_scope scope;
};

} // namespace vmswitch
