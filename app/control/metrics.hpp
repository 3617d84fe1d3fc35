#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "actors/inspect/snapshot.hpp"

namespace vmswitch {

/// What the process costs (process_usage_<system>.cpp).
struct process_usage {
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_descriptors = 0;
  std::uint64_t most_descriptors = 0;
};
process_usage measure_process();

/// What else stands in the metrics.
struct metrics_facts {
  double started_seconds = 0; // since 1970
  process_usage process;
  std::size_t control_connections = 0;
  std::uint64_t control_displaced = 0;
  std::map<unsigned, std::uint64_t> control_answers; // by status code
};

/// Ports beyond this many of a network are left out, and counted: a scrape stays bounded.
inline constexpr std::size_t most_ports_in_metrics = 4096;

/// GET /metrics, in the text format of Prometheus. Sums of a network include ports that have gone,
/// so that its counters never fall while the daemon runs; a port's series end with it. Pure.
std::string metrics_text(const daemon_snapshot& seen, const metrics_facts& facts);

} // namespace vmswitch
