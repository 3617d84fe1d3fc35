#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "transport/frame/burst.hpp"

namespace vmswitch {

/// Turns bare frames (from libslirp, a service, a simulated VM) into bursts, by one copy each.
/// Used by one thread at a time.
class burst_builder {
public:
  explicit burst_builder(std::shared_ptr<slab_pool> pool) : pool_{std::move(pool)} {}

  enum class outcome {
    added,
    full,      ///< take() the burst first, then try again
    exhausted, ///< the pool's budget is out: drop, or wait for its on_return
  };
  /// Copies one frame behind the burst under construction.
  /// @pre ethernet_header_size <= frame.size() <= slab::capacity - prefix_size
  outcome append(std::span<const std::byte> frame);

  /// Like `append`, but the caller writes the frame itself into the returned space of `size`
  /// bytes. An empty span means that nothing was added; `why` says what to do.
  std::span<std::byte> extend(std::size_t size, outcome& why);

  /// Space for one frame of up to `most` bytes whose size is not known yet, to be written in place
  /// and then committed. An empty span means that there is none; `why` says what to do.
  std::span<std::byte> reserve(std::size_t most, outcome& why);
  /// Appends the first `size` bytes of the last reserve(), which no other call may follow.
  /// @pre ethernet_header_size <= size <= most
  void commit(std::size_t size);

  bool empty() const noexcept { return pending_.empty(); }
  /// The frames appended since the last call; empty when there are none.
  burst take();
  /// Gives the rest of the current slab back. Call when going idle.
  void release() noexcept { memory_.reset(); }

private:
  std::shared_ptr<slab_pool> pool_;
  slab_ref memory_;
  std::uint32_t used_ = 0;
  burst pending_;
};

} // namespace vmswitch
