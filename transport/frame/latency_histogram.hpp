#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace vmswitch {

/// How long things took, in buckets whose bounds double: the last bound of bucket k is 2^k
/// microseconds, and the last bucket has none. Plain integers, written by one owner; adding costs
/// a few instructions.
class latency_histogram {
public:
  static constexpr std::size_t buckets = 21; // up to 2^19 us, half a second, and the rest

  void add(std::chrono::nanoseconds took, std::uint64_t count) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 0));
    const auto us = (ns + 999) / 1000; // up, so that a bound is part of its bucket
    counts_[std::min<std::size_t>(us == 0 ? 0 : std::bit_width(us - 1), buckets - 1)] += count;
    sum_ns_ += ns * count;
  }
  latency_histogram& operator+=(const latency_histogram& other) noexcept {
    for (std::size_t i = 0; i < buckets; ++i)
      counts_[i] += other.counts_[i];
    sum_ns_ += other.sum_ns_;
    return *this;
  }

  std::uint64_t operator[](std::size_t bucket) const noexcept { return counts_[bucket]; }
  std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const auto count : counts_)
      sum += count;
    return sum;
  }
  double sum_seconds() const noexcept { return static_cast<double>(sum_ns_) * 1e-9; }

private:
  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t sum_ns_ = 0;
};

} // namespace vmswitch
