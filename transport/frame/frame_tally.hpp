#pragma once

#include <cstddef>
#include <cstdint>

namespace vmswitch {

/// A number of frames and their bytes, without prefixes.
struct frame_tally {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;

  void add(std::size_t frame_size) noexcept {
    ++frames;
    bytes += frame_size;
  }
  frame_tally& operator+=(const frame_tally& other) noexcept {
    frames += other.frames;
    bytes += other.bytes;
    return *this;
  }
  friend bool operator==(const frame_tally&, const frame_tally&) = default;
};

} // namespace vmswitch
