#include "tests/bench/vm/sequence_check.hpp"

namespace vmswitch::bench {

void sequence_check::out_of_order(std::uint64_t sequence) {
  if (sequence > next_) {
    gaps_.emplace(next_, sequence);
    missing_ += sequence - next_;
    next_ = sequence + 1;
    if (gaps_.size() > gap_limit)
      gaps_.erase(gaps_.begin());
    return;
  }
  auto gap = gaps_.upper_bound(sequence);
  if (gap == gaps_.begin() || (--gap)->second <= sequence) {
    ++duplicated_;
    return;
  }
  const auto [begin, end] = *gap;
  gaps_.erase(gap);
  if (begin < sequence)
    gaps_.emplace(begin, sequence);
  if (sequence + 1 < end)
    gaps_.emplace(sequence + 1, end);
  --missing_;
  ++reordered_;
}

} // namespace vmswitch::bench
