#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace vmswitch::bench {

/// Tells from the sequence numbers 0, 1, 2, ... of one sender what became of its frames.
///
/// In order costs one comparison. A gap is remembered, so that a frame that comes later is told
/// from one that comes twice; beyond `gap_limit` gaps the oldest is taken for lost for good.
class sequence_check {
public:
  static constexpr std::size_t gap_limit = 1 << 16;

  void receive(std::uint64_t sequence) {
    if (sequence == next_) [[likely]]
      ++next_;
    else
      out_of_order(sequence);
  }

  /// One more than the highest number seen.
  std::uint64_t next() const noexcept { return next_; }
  /// Frames that never came, if `sent` frames were sent.
  std::uint64_t lost(std::uint64_t sent) const noexcept {
    return missing_ + (sent > next_ ? sent - next_ : 0);
  }
  std::uint64_t reordered() const noexcept { return reordered_; }
  std::uint64_t duplicated() const noexcept { return duplicated_; }

private:
  void out_of_order(std::uint64_t sequence);

  std::uint64_t next_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t duplicated_ = 0;
  std::map<std::uint64_t, std::uint64_t> gaps_; // first missing -> one past the last missing
};

} // namespace vmswitch::bench
