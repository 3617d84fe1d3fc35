#pragma once

#include <atomic>
#include <cstdint>

#include "vmnet/forward/forward_rule.hpp"

namespace vmswitch {

/// Counted by the relay's thread, read by any.
struct relay_counters {
  std::atomic<std::uint64_t> open{0}, accepted{0}, refused{0}, to_vm{0}, from_vm{0};

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  forward_traffic read() const noexcept {
    const auto value = [](const auto& one) { return one.load(std::memory_order_relaxed); };
    return {value(open), value(accepted), value(refused), value(to_vm), value(from_vm)};
  }
};

} // namespace vmswitch
