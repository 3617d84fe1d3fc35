#include "tests/bench/work/traffic.hpp"

#include <algorithm>
#include <thread>

#include <poll.h>

namespace vmswitch::bench {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

void frame_source::run(const workload& work, const std::atomic<bool>& stop) {
  wire_batch batch{vm->address(), to, frame_kind::data, work.sizes, work.frames_per_write};
  std::uint64_t next = 0;
  auto before = clock::now();
  while (!stop.load(std::memory_order_relaxed)) {
    const bool taken = vm->send(batch.number(next));
    const auto now = clock::now();
    longest_pause = std::max(longest_pause, now - before);
    before = now;
    if (!taken)
      break;
    next += batch.frames();
    sent.store(next, std::memory_order_relaxed);
  }
  done.store(true);
}

void frame_target::run() {
  std::uint64_t all_frames = 0;
  std::uint64_t all_bytes = 0;
  const auto count = [&](std::span<const std::byte> frame) {
    if (kind_of(frame) != frame_kind::data)
      return;
    if (ethernet_view::unchecked(frame).destination() != expected) {
      ++flooded;
      return;
    }
    check.receive(sequence_of(frame));
    ++all_frames;
    all_bytes += frame.size();
  };
  while (vm->receive(count)) {
    frames.store(all_frames, std::memory_order_relaxed);
    bytes.store(all_bytes, std::memory_order_relaxed);
  }
}

std::uint64_t drain(const std::vector<vm_client*>& vms, const std::atomic<bool>& stop) {
  std::uint64_t flooded = 0;
  std::vector<pollfd> ready;
  for (vm_client* vm : vms) {
    vm->set_patience(1); // poll() has told already, or was wrong
    ready.push_back({vm->fd(), POLLIN, 0});
  }
  while (!stop.load()) {
    if (::poll(ready.data(), static_cast<nfds_t>(ready.size()), 100) <= 0)
      continue;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0)
        continue;
      vms[i]->receive([&](std::span<const std::byte> frame) {
        flooded += kind_of(frame) == frame_kind::data ? 1 : 0;
      });
      if (vms[i]->hung_up())
        ready[i].fd = -1;
    }
  }
  return flooded;
}

clock::duration make_noise(vm_client& sender, mac_address stuck, int rate,
                           const std::atomic<bool>& stop) {
  const auto sizes = frame_sizes::parse("1514").value();
  wire_batch frames[] = {{sender.address(), stuck, frame_kind::noise, sizes, 1},
                         {sender.address(), broadcast_mac, frame_kind::noise, sizes, 1}};
  clock::duration longest{};
  const auto start = clock::now();
  for (std::uint64_t sent = 0; !stop.load(); ++sent) {
    std::this_thread::sleep_until(start + sent * std::chrono::nanoseconds{1s} / rate);
    const auto before = clock::now();
    const bool alive = sender.send(frames[sent % 2].number(sent));
    longest = std::max(longest, clock::now() - before);
    if (!alive)
      break;
  }
  return longest;
}

} // namespace vmswitch::bench
