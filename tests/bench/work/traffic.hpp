#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "tests/bench/vm/sequence_check.hpp"
#include "tests/bench/vm/vm_client.hpp"
#include "tests/bench/work/workload.hpp"

namespace vmswitch::bench {

/// Sends numbered frames to one address, on a thread of its own.
struct alignas(64) frame_source {
  vm_client* vm = nullptr;
  mac_address to;

  std::atomic<std::uint64_t> sent{0};
  std::atomic<bool> done{false};
  std::chrono::steady_clock::duration longest_pause{}; // of one write

  /// Until `stop`, or the switch hangs up.
  void run(const workload& work, const std::atomic<bool>& stop);
};

/// Receives what one source sends to `expected`, on a thread of its own.
struct alignas(64) frame_target {
  vm_client* vm = nullptr;
  const frame_source* from = nullptr;
  mac_address expected;

  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> bytes{0};
  std::uint64_t flooded = 0; // frames for somebody else
  sequence_check check;

  /// Until the connection ends.
  void run();
};

/// Reads for VMs that are no targets, until `stop`; returns the data frames among it, which should
/// not have come to them.
std::uint64_t drain(const std::vector<vm_client*>& vms, const std::atomic<bool>& stop);

/// Sends to a VM that never reads, at a steady rate, and a broadcast after each such frame, until
/// `stop`; returns the longest pause that one write took.
std::chrono::steady_clock::duration make_noise(vm_client& sender, mac_address stuck, int rate,
                                               const std::atomic<bool>& stop);

} // namespace vmswitch::bench
