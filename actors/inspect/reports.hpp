#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/inspect/snapshot.hpp"
#include "actors/port_id.hpp"
#include "transport/frame/port_counters.hpp"
#include "vmnet/service_report.hpp"

namespace vmswitch {

/// Which question an answer belongs to. Whoever is asked sends it back as it is.
struct inquiry {
  std::uint64_t ticket = 0;  // the inspector's round
  std::uint32_t network = 0; // its place in that round
  std::uint32_t part = 0;    // which listener
};

/// port, host, datagram listener (whose id is none): my counters.
struct counters_report {
  port_id id;
  std::string name;
  port_counters counters;
  inquiry about;
  queue_state queue;
  latency_histogram waited;
  service_report services; // the host's, if asked for
};

/// switch: what I dropped, and what I have learned.
struct switch_report {
  inquiry about;
  drop_counters drops; // all of them
  drop_counters gone;  // those of frames from ports that have ended
  struct port {
    port_id id;
    drop_counters drops;
    std::size_t macs = 0;
  };
  std::vector<port> ports;
  std::size_t mac_count = 0;
  std::vector<mac_snapshot> macs; // without names
  std::vector<capture_snapshot> captures;
};

/// network: this is me, and these parts of me have been asked to answer as well.
struct network_report {
  inquiry about;
  network_snapshot self; // ports as briefs
  bool asked_switch = false;
  std::vector<std::uint32_t> asked_listeners;
};

/// network: a port that was asked has ended; its last word.
struct port_gone {
  inquiry about;
  port_id id;
  port_counters counters;
  latency_histogram waited;
};

} // namespace vmswitch
