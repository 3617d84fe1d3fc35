#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/bench/work/lab.hpp"
#include "tests/bench/work/traffic.hpp"

namespace vmswitch::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr int patience_ms = 2000;

bool receive_data(vm_client& vm) {
  bool came = false;
  while (!came)
    if (!vm.receive([&](std::span<const std::byte> frame) {
          came = came || (kind_of(frame) == frame_kind::data &&
                          ethernet_view::unchecked(frame).destination() == vm.address());
        }))
      return false;
  return true;
}

// The times of one frame there and back after the other, in microseconds; empty if one did not
// come.
std::vector<double> ping(vm_client& near, vm_client& far, const workload& work) {
  std::thread echo{[&] {
    wire_batch answer{far.address(), near.address(), frame_kind::data, work.sizes, 1};
    while (receive_data(far) && far.send(answer.number(0)))
      continue;
  }};
  wire_batch question{near.address(), far.address(), frame_kind::data, work.sizes, 1};
  near.set_patience(patience_ms);
  std::vector<double> times;
  const auto end = clock::now() + std::chrono::duration<double>(work.seconds);
  for (auto before = clock::now(); before < end; before = clock::now()) {
    if (!near.send(question.number(0)) || !receive_data(near)) {
      times.clear();
      break;
    }
    times.push_back(std::chrono::duration<double, std::micro>(clock::now() - before).count());
  }
  near.shut_down();
  far.shut_down();
  echo.join();
  std::sort(times.begin(), times.end());
  return times;
}

} // namespace

result<sample> measure_latency(running_switch& tested, const workload& work) {
  lab vms;
  if (auto plugged = vms.plug_in(tested, work); !plugged)
    return tl::unexpected{plugged.error()};

  std::atomic<bool> stop{false};
  std::vector<std::thread> load;
  frame_source source;
  frame_target target;
  const auto begin = clock::now();
  if (work.loaded) {
    source.vm = &vms.pairs[2];
    source.to = target.expected = vms.pairs[3].address();
    target.vm = &vms.pairs[3];
    target.from = &source;
    workload full; // whatever the pings are like
    load.emplace_back([&] { target.run(); });
    load.emplace_back([&, full] { source.run(full, stop); });
    load.emplace_back([&] { drain({source.vm}, stop); });
  }
  const auto times = ping(vms.pairs[0], vms.pairs[1], work);
  const double elapsed = std::chrono::duration<double>(clock::now() - begin).count();
  stop.store(true);
  vms.shut_down();
  for (std::thread& each : load)
    each.join();
  if (times.empty())
    return fail("an answer did not come within " + std::to_string(patience_ms) + " ms");

  sample report;
  const auto of = [&](double part) {
    return times[std::min(times.size() - 1,
                          static_cast<std::size_t>(static_cast<double>(times.size()) * part))];
  };
  report.add("p50 us", of(0.5), 1);
  report.add("p90 us", of(0.9), 1);
  report.add("p99 us", of(0.99), 1);
  report.add("p99.9 us", of(0.999), 1);
  report.add("rounds", static_cast<double>(times.size()), 0, metric::fold::sum);
  if (work.loaded)
    report.add("load Gbit/s", static_cast<double>(target.bytes.load()) * 8 / elapsed / 1e9, 2);
  return report;
}

} // namespace vmswitch::bench
