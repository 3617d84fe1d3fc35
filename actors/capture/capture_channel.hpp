#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "actors/capture/byte_ring.hpp"

namespace vmswitch {

/// A running capture's bytes on their way from a switch to whoever reads them.
///
/// The switch's side writes into the ring and ends the stream; the reader's side reads, sleeps, and
/// after the end finds a last piece (`tail`) or the reason why there was no stream at all. Neither
/// ever waits for the other. `wake` is called on the switch's thread, at most once for each
/// sleep(), perhaps needlessly: it must only post or send.
class capture_channel {
public:
  static constexpr std::size_t ring_bytes = 4 * 1024 * 1024;

  explicit capture_channel(std::function<void()> wake, std::size_t bytes = ring_bytes)
      : ring_{bytes}, wake_{std::move(wake)} {}
  capture_channel(const capture_channel&) = delete;
  capture_channel& operator=(const capture_channel&) = delete;

  // -- the switch's side ----------------------------------------------------------------------
  byte_ring& ring() noexcept { return ring_; }
  /// Shows the reader what was committed, and wakes it if it sleeps.
  void publish() {
    if (ring_.publish())
      wake_();
  }
  /// Ends the stream; the first call counts. `refusal` is why it never began, or empty.
  void end(std::vector<std::byte> tail, std::string refusal);

  // -- the reader's side ----------------------------------------------------------------------
  /// The next bytes in one piece; empty if there are none yet or no more, see over().
  std::span<const std::byte> readable() noexcept;
  void consume(std::size_t size) noexcept;
  /// Asks for `wake` when there is more or the end. False if that is so already.
  bool sleep() noexcept;
  /// Whether the stream has ended and all of it was read.
  bool over() noexcept { return ended_.load(std::memory_order_acquire) && readable().empty(); }
  /// Why there is no stream. @pre over()
  const std::string& refusal() const noexcept { return refusal_; }

private:
  byte_ring ring_;
  const std::function<void()> wake_;
  std::vector<std::byte> tail_; // this and refusal_ belong to the reader from ended_ on
  std::string refusal_;
  std::atomic<bool> ended_{false};
  std::size_t tail_read_ = 0;
};

} // namespace vmswitch
