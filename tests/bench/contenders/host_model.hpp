#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "tests/bench/vm/wire_batch.hpp"

namespace vmswitch::bench {

/// A host that always has data for the VM that has asked for it: what a system's network framework
/// is to a switch. One thread gives frames, others take them.
class host_model {
public:
  /// `woken` is called when there is something to give again, on any thread.
  explicit host_model(std::function<void()> woken) : woken_{std::move(woken)} {}

  /// Looks at a frame from a VM: one of its kinds `request` and `enough`, or nothing to it.
  void take(std::span<const std::byte> frame);

  /// The next frame for the VM, valid until the next call; empty if there is none now. As from a
  /// system's buffer: its bytes are not the caller's.
  std::span<const std::byte> next();

  /// Blocks until there may be one.
  void wait();

private:
  struct order {
    mac_address to;
    frame_kind kind;
  };
  static constexpr std::uint64_t frames_per_look = 64; // for orders

  const std::function<void()> woken_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<order> order_; // guarded by mutex_: not yet seen by the giving thread

  std::optional<wire_batch> batch_;    // while somebody wants data
  std::optional<wire_batch> farewell_; // how many there were
  bool farewell_due_ = false;
  mac_address to_;
  std::uint64_t sent_ = 0;
};

} // namespace vmswitch::bench
