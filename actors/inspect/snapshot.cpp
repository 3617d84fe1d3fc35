#include "actors/inspect/snapshot.hpp"

namespace vmswitch {

port_counters network_snapshot::totals() const {
  auto sum = gone;
  sum.drops += switch_drops;
  for (const auto& listener : listeners)
    sum.drops += listener.drops;
  for (const auto& port : ports)
    sum += port.counters;
  return sum;
}

latency_histogram network_snapshot::waited() const {
  auto sum = gone_waited;
  for (const auto& port : ports)
    sum += port.waited;
  return sum;
}

} // namespace vmswitch
