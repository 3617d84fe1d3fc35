#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/bench/work/lab.hpp"
#include "tests/bench/work/process_cost.hpp"
#include "tests/bench/work/traffic.hpp"

namespace vmswitch::bench {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Reads until the host has told how many frames it has sent; counts them.
struct download {
  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<bool> told{false};
  std::uint64_t sent = 0;
  sequence_check check;

  void run(vm_client& vm) {
    while (!told.load() && vm.receive([&](std::span<const std::byte> frame) {
      if (ethernet_view::unchecked(frame).destination() != vm.address())
        return;
      if (kind_of(frame) == frame_kind::ack) {
        sent = sequence_of(frame);
        told.store(true);
      } else if (kind_of(frame) == frame_kind::data) {
        check.receive(sequence_of(frame));
        frames.fetch_add(1, std::memory_order_relaxed);
        bytes.fetch_add(frame.size(), std::memory_order_relaxed);
      }
    }))
      continue;
  }
};

} // namespace

result<sample> measure_from_host(running_switch& tested, const workload& work) {
  std::deque<vm_client> vms;
  for (int i = 0; i <= work.idle; ++i) {
    auto wire = tested.plug_in();
    if (!wire)
      return tl::unexpected{wire.error()};
    vms.emplace_back(std::move(*wire),
                     mac_address::from_integer(0x5254'00be'0001 + static_cast<std::uint64_t>(i)));
  }
  vm_client& receiver = vms[0];
  const auto sizes = frame_sizes::parse("64").value();
  const auto say = [&](vm_client& vm, frame_kind kind) {
    return vm.send(wire_batch{vm.address(), broadcast_mac, kind, sizes, 1}.number(0));
  };
  std::vector<vm_client*> silent;
  for (std::size_t i = 1; i < vms.size(); ++i) {
    say(vms[i], frame_kind::hello);
    silent.push_back(&vms[i]);
  }
  std::atomic<bool> stop_drain{false};
  std::uint64_t flooded = 0;
  download data;
  receiver.set_patience(2000);
  std::thread reading{[&] { data.run(receiver); }};
  std::thread draining{[&] { flooded = drain(silent, stop_drain); }};

  std::this_thread::sleep_for(50ms); // the hellos have arrived
  say(receiver, frame_kind::request);
  std::this_thread::sleep_for(200ms);
  process_cost cost{tested.process()};
  const auto begin = clock::now();
  const std::uint64_t bytes_before = data.bytes.load();
  const std::uint64_t frames_before = data.frames.load();
  std::this_thread::sleep_for(std::chrono::duration<double>(work.seconds));
  const auto bytes = static_cast<double>(data.bytes.load() - bytes_before);
  const auto frames = static_cast<double>(data.frames.load() - frames_before);
  const double elapsed = std::chrono::duration<double>(clock::now() - begin).count();
  cost.stop();
  say(receiver, frame_kind::enough);
  reading.join();
  stop_drain.store(true);
  draining.join();
  if (!data.told.load())
    return fail("the host's model did not say how much it has sent");

  sample report;
  report.add("Gbit/s", bytes * 8 / elapsed / 1e9, 2);
  report.add("frames/s", frames / elapsed, 0);
  cost.add_to(report, bytes, frames);
  report.add_fault("lost", data.check.lost(data.sent));
  report.add_fault("reordered", data.check.reordered());
  report.add_fault("doubled", data.check.duplicated());
  report.add_fault("flooded", flooded);
  return report;
}

} // namespace vmswitch::bench
