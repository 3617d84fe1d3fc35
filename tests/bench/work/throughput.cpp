#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include "tests/bench/work/lab.hpp"
#include "tests/bench/work/process_cost.hpp"
#include "tests/bench/work/traffic.hpp"

namespace vmswitch::bench {

// Theory of operation. Every source and every target has a thread on a blocking socket, which
// costs the fewest system calls. VMs that are no targets still read (a VM that does not is what
// `stuck` is for): one `drain` thread does it for all of them, and counts what it should not have
// got. Measured is between two looks at the targets' counters; lost frames are counted after the
// sources have stopped and the network is empty.

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto warm_up = 200ms;
constexpr auto quiet = 500ms; // without progress for so long, nothing will come any more

double to_ms(clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

struct traffic {
  std::deque<frame_source> sources;
  std::deque<frame_target> targets;
  std::vector<vm_client*> drained;
  std::vector<vm_client*> stuck;
  std::vector<vm_client*> talkers; // to the stuck ones

  traffic(lab& vms, const workload& work);
  void add_flow(vm_client& from, vm_client& to, mac_address destination);
  std::uint64_t total(std::atomic<std::uint64_t> frame_target::*counter) const;
  std::uint64_t due() const; // frames that should have arrived by now
  void wait_until_empty() const;
};

traffic::traffic(lab& vms, const workload& work) {
  if (work.receivers > 0) {
    drained.push_back(&vms.pairs[0]);
    for (std::size_t i = 1; i < vms.pairs.size(); ++i)
      add_flow(vms.pairs[0], vms.pairs[i], broadcast_mac);
  } else {
    for (std::size_t i = 0; i < vms.pairs.size(); i += 2) {
      add_flow(vms.pairs[i], vms.pairs[i + 1], vms.pairs[i + 1].address());
      if (work.bidirectional)
        add_flow(vms.pairs[i + 1], vms.pairs[i], vms.pairs[i].address());
      else
        drained.push_back(&vms.pairs[i]);
    }
  }
  for (std::size_t i = 0; i < vms.troubled.size(); i += 2) {
    stuck.push_back(&vms.troubled[i]);
    talkers.push_back(&vms.troubled[i + 1]);
    drained.push_back(talkers.back());
  }
  for (vm_client& one : vms.idle)
    drained.push_back(&one);
}

void traffic::add_flow(vm_client& from, vm_client& to, mac_address destination) {
  if (sources.empty() || sources.back().vm != &from) {
    auto& source = sources.emplace_back();
    source.vm = &from;
    source.to = destination;
  }
  auto& target = targets.emplace_back();
  target.vm = &to;
  target.from = &sources.back();
  target.expected = destination;
}

std::uint64_t traffic::total(std::atomic<std::uint64_t> frame_target::*counter) const {
  std::uint64_t sum = 0;
  for (const auto& each : targets)
    sum += (each.*counter).load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t traffic::due() const {
  std::uint64_t sum = 0;
  for (const auto& each : targets)
    sum += each.from->sent.load();
  return sum;
}

// Until every frame has arrived, or nothing moves any more (frames lost, senders blocked).
void traffic::wait_until_empty() const {
  std::uint64_t seen = 0;
  for (auto last = clock::now(); clock::now() - last < quiet;) {
    const bool all_sent = std::all_of(sources.begin(), sources.end(),
                                      [](const frame_source& each) { return each.done.load(); });
    const std::uint64_t now = total(&frame_target::frames);
    if (all_sent && now >= due())
      return;
    if (now != seen) {
      seen = now;
      last = clock::now();
    }
    std::this_thread::sleep_for(1ms);
  }
}

} // namespace

result<sample> measure_throughput(running_switch& tested, const workload& work) {
  lab vms;
  if (auto plugged = vms.plug_in(tested, work); !plugged)
    return tl::unexpected{plugged.error()};
  traffic all{vms, work};

  std::atomic<bool> stop_sources{false};
  std::atomic<bool> stop_drain{false};
  std::uint64_t drained_data = 0;
  std::vector<clock::duration> noise_pauses(all.talkers.size());
  std::vector<std::thread> threads;
  if (!all.drained.empty())
    threads.emplace_back([&] { drained_data = drain(all.drained, stop_drain); });
  for (auto& each : all.targets)
    threads.emplace_back([&] { each.run(); });
  for (auto& each : all.sources)
    threads.emplace_back([&] { each.run(work, stop_sources); });
  for (std::size_t i = 0; i < all.talkers.size(); ++i)
    threads.emplace_back([&, i] {
      noise_pauses[i] =
          make_noise(*all.talkers[i], all.stuck[i]->address(), work.noise_rate, stop_sources);
    });

  std::this_thread::sleep_for(warm_up);
  process_cost cost{tested.process()};
  const auto begin = clock::now();
  const std::uint64_t bytes_before = all.total(&frame_target::bytes);
  const std::uint64_t frames_before = all.total(&frame_target::frames);
  std::this_thread::sleep_for(std::chrono::duration<double>(work.seconds));
  const auto bytes = static_cast<double>(all.total(&frame_target::bytes) - bytes_before);
  const auto frames = static_cast<double>(all.total(&frame_target::frames) - frames_before);
  const double elapsed = std::chrono::duration<double>(clock::now() - begin).count();
  cost.stop();

  stop_sources.store(true);
  all.wait_until_empty();
  bool hung_up = false;
  for (const auto& each : all.targets)
    hung_up = hung_up || each.vm->hung_up();
  const auto emptied = tested.process() ? test::usage_of(tested.process()) : std::nullopt;
  stop_drain.store(true);
  vms.shut_down();
  for (std::thread& each : threads)
    each.join();
  if (hung_up)
    return fail("the switch hung up on a client while it was measured");

  sample report;
  report.add("Gbit/s", bytes * 8 / elapsed / 1e9, 2);
  report.add("frames/s", frames / elapsed, 0);
  cost.add_to(report, bytes, frames);
  if (emptied)
    report.add("MiB after", emptied->resident_mib, 1);
  std::uint64_t lost = 0, reordered = 0, duplicated = 0, flooded = drained_data;
  for (const auto& each : all.targets) {
    lost += each.check.lost(each.from->sent.load());
    reordered += each.check.reordered();
    duplicated += each.check.duplicated();
    flooded += each.flooded;
  }
  report.add_fault("lost", lost);
  report.add_fault("reordered", reordered);
  report.add_fault("doubled", duplicated);
  report.add_fault("flooded", flooded);
  clock::duration pause{};
  for (const auto& each : all.sources)
    pause = std::max(pause, each.longest_pause);
  report.add("longest pause ms", to_ms(pause), 1, metric::fold::most);
  if (!noise_pauses.empty())
    report.add("pause beside stuck ms",
               to_ms(*std::max_element(noise_pauses.begin(), noise_pauses.end())), 1,
               metric::fold::most);
  return report;
}

} // namespace vmswitch::bench
