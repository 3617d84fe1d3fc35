#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include <poll.h>

#include "tests/bench/work/lab.hpp"
#include "tests/bench/work/process_cost.hpp"

namespace vmswitch::bench {

// Theory of operation. The rate is the same however many pairs share it, and far from what the
// switch can do, so that what a frame costs depends on the number of ports only. One thread sends
// for all pairs in turn and another one receives: a thousand threads of ours would measure the
// system's scheduler.

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct stream_of_frames {
  vm_client* from;
  vm_client* to;
  wire_batch batch;
  std::uint64_t sent = 0;
  sequence_check check{};
};

struct receiver_thread {
  std::deque<stream_of_frames>& flows;
  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> bytes{0};
  std::uint64_t flooded = 0;

  void run(const std::atomic<bool>& stop) {
    std::vector<pollfd> ready;
    for (auto& each : flows) {
      each.to->set_patience(1);
      ready.push_back({each.to->fd(), POLLIN, 0});
    }
    while (!stop.load()) {
      if (::poll(ready.data(), static_cast<nfds_t>(ready.size()), 50) <= 0)
        continue;
      for (std::size_t i = 0; i < ready.size(); ++i)
        if (ready[i].revents != 0)
          read(flows[i]);
    }
  }

  void read(stream_of_frames& flow) {
    std::uint64_t count = 0;
    std::uint64_t size = 0;
    flow.to->receive([&](std::span<const std::byte> frame) {
      if (kind_of(frame) != frame_kind::data)
        return;
      if (ethernet_view::unchecked(frame).destination() != flow.to->address()) {
        ++flooded;
        return;
      }
      flow.check.receive(sequence_of(frame));
      ++count;
      size += frame.size();
    });
    frames.fetch_add(count, std::memory_order_relaxed);
    bytes.fetch_add(size, std::memory_order_relaxed);
  }
};

} // namespace

result<sample> measure_spread(running_switch& tested, const workload& work) {
  lab vms;
  if (auto plugged = vms.plug_in(tested, work); !plugged)
    return tl::unexpected{plugged.error()};
  const std::size_t per_write =
      work.frames_per_write == wire_batch::fill ? 16 : work.frames_per_write;
  std::deque<stream_of_frames> flows;
  for (std::size_t i = 0; i < vms.pairs.size(); i += 2)
    flows.push_back({&vms.pairs[i], &vms.pairs[i + 1],
                     wire_batch{vms.pairs[i].address(), vms.pairs[i + 1].address(),
                                frame_kind::data, work.sizes, per_write}});

  std::atomic<bool> stop{false};
  std::atomic<bool> stop_receiver{false};
  receiver_thread receiver{flows};
  std::thread receiving{[&] { receiver.run(stop_receiver); }};
  bool hung_up = false;
  std::thread sending{[&] {
    const auto begin = clock::now();
    const auto interval = std::chrono::nanoseconds{1s} * per_write / work.rate;
    for (std::uint64_t turn = 0; !stop.load() && !hung_up; ++turn) {
      std::this_thread::sleep_until(begin + turn * interval);
      auto& flow = flows[turn % flows.size()];
      hung_up = !flow.from->send(flow.batch.number(flow.sent));
      flow.sent += per_write;
    }
  }};

  std::this_thread::sleep_for(500ms);
  process_cost cost{tested.process()};
  const auto begin = clock::now();
  const std::uint64_t frames_before = receiver.frames.load();
  const std::uint64_t bytes_before = receiver.bytes.load();
  std::this_thread::sleep_for(std::chrono::duration<double>(work.seconds));
  const auto frames = static_cast<double>(receiver.frames.load() - frames_before);
  const auto bytes = static_cast<double>(receiver.bytes.load() - bytes_before);
  const double elapsed = std::chrono::duration<double>(clock::now() - begin).count();
  cost.stop();
  stop.store(true);
  sending.join();
  std::this_thread::sleep_for(200ms); // what is still on its way
  stop_receiver.store(true);
  receiving.join();
  if (hung_up)
    return fail("the switch hung up on a client while it was measured");

  sample report;
  report.add("cpu ns/frame", cost.cpu_seconds() / frames * 1e9, 0);
  report.add("frames/s", frames / elapsed, 0);
  report.add("cpu s/GB", cost.cpu_seconds() / bytes * 1e9, 2);
  if (cost.usage())
    report.add("peak MiB", cost.usage()->peak_resident_mib, 1, metric::fold::most);
  std::uint64_t lost = 0, reordered = 0, duplicated = 0;
  for (const auto& each : flows) {
    lost += each.check.lost(each.sent);
    reordered += each.check.reordered();
    duplicated += each.check.duplicated();
  }
  report.add_fault("lost", lost);
  report.add_fault("reordered", reordered);
  report.add_fault("doubled", duplicated);
  report.add_fault("flooded", receiver.flooded);
  return report;
}

} // namespace vmswitch::bench
