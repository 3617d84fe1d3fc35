#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tests/bench/contenders/contender.hpp"
#include "tests/bench/report/sample.hpp"
#include "tests/bench/vm/wire_batch.hpp"
#include "transport/error.hpp"

namespace vmswitch::bench {

/// What the simulated VMs do. Each pair has VMs of its own, which send as fast as they can.
struct workload {
  frame_sizes sizes = frame_sizes::parse("1514").value();
  std::size_t frames_per_write = wire_batch::fill;
  int pairs = 1;
  bool bidirectional = false; // both VMs of a pair send at once
  int receivers = 0;          // fanout: so many VMs take what one broadcasts, instead of pairs
  int idle = 0;               // VMs that only read
  int stuck = 0;              // VMs that announce themselves and never read
  int noise_rate = 2000;      // frames a second to the stuck VMs: unicast and broadcast in turn
  bool loaded = false;        // latency: beside a second pair that sends at full speed
  int rate = 200'000;         // spread: frames a second of all pairs together
  double seconds = 2;         // measured, after 0.2 s of warming up

  /// VMs in all.
  std::size_t vms() const noexcept {
    const int talking = receivers > 0 ? 1 + receivers : 2 * (pairs + (loaded ? 1 : 0));
    return static_cast<std::size_t>(talking) + static_cast<std::size_t>(idle) +
           2 * static_cast<std::size_t>(stuck);
  }
};

/// "1514 bytes, 64 KiB per write, 1 pair, both directions, 3 idle".
std::string describe(const workload& work);

/// Measures one run of a switch. Fails when it hangs up or does not forward at all.
using measure = std::function<result<sample>(running_switch&, const workload&)>;

/// How fast frames get through; with `receivers`, how fast one VM's broadcasts do.
result<sample> measure_throughput(running_switch& tested, const workload& work);

/// One frame there and back at a time, between one pair, for work.seconds.
result<sample> measure_latency(running_switch& tested, const workload& work);

/// All pairs in turn, together at work.rate: what one frame costs, however many ports there are.
result<sample> measure_spread(running_switch& tested, const workload& work);

/// What a host that always has data gets to one VM, beside work.idle others.
result<sample> measure_from_host(running_switch& tested, const workload& work);

/// work.idle VMs that have said hello and are silent: what it costs to have them.
result<sample> measure_idle(running_switch& tested, const workload& work);

} // namespace vmswitch::bench
