#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace vmswitch {

/// A bounded queue of bytes between two threads that never wait for each other.
///
/// Theory of operation. Positions count all bytes ever; a position's place in the memory is its
/// rest modulo the capacity. What is written at once stands in one piece: where the memory ends too
/// early, the rest of it is left out (`skipped_at_`), so that writer and reader have plain spans.
/// What is written is seen by the reader after publish(): many small pieces cost one
/// synchronization. A reader that found nothing may ask to be woken; the writer then learns of it
/// at the next publish(), once.
///
/// One thread writes, one reads.
class byte_ring {
public:
  /// Memory is touched, hence taken, only as far as it gets used. @pre capacity is a power of two
  explicit byte_ring(std::size_t capacity);

  // -- the writer -----------------------------------------------------------------------------
  /// Bytes that are free, perhaps not in one piece.
  std::size_t room() noexcept;
  /// Space for `size` bytes in one piece, or null if there is no room now.
  std::byte* reserve(std::size_t size) noexcept;
  /// The first `size` bytes of the last reserve() belong to the stream.
  void commit(std::size_t size) noexcept { written_ += size; }
  /// Shows the reader all that was committed. True if it sleeps and is to be woken.
  bool publish() noexcept;

  // -- the reader -----------------------------------------------------------------------------
  /// The next bytes of the stream that stand in one piece; empty if there are none yet.
  std::span<const std::byte> readable() noexcept;
  /// The first `size` bytes of the last readable() are done with.
  void consume(std::size_t size) noexcept;
  /// Asks to be woken for the next bytes. False, and nothing is asked for, if some are there.
  bool sleep() noexcept;

  std::size_t capacity() const noexcept { return capacity_; }

private:
  std::size_t known_room() const noexcept {
    return capacity_ - static_cast<std::size_t>(written_ - known_read_);
  }
  std::byte* place(std::uint64_t position) const noexcept {
    return memory_.get() + (position & (capacity_ - 1));
  }
  std::uint64_t lap_end(std::uint64_t position) const noexcept {
    return (position | (capacity_ - 1)) + 1;
  }

  const std::size_t capacity_;
  const std::unique_ptr<std::byte[]> memory_;

  // The writer's.
  alignas(64) std::uint64_t written_ = 0;
  std::uint64_t known_read_ = 0; // of read_, as it was when last looked at
  // Where the lap that the reader is in ends, if it does so early. The writer changes it only when
  // it begins another lap, and cannot do so before the reader has left the one before.
  std::uint64_t skipped_at_ = ~std::uint64_t{0};

  alignas(64) std::atomic<std::uint64_t> published_{0};
  alignas(64) std::atomic<std::uint64_t> read_{0};
  std::atomic<bool> sleeps_{false};
};

} // namespace vmswitch
