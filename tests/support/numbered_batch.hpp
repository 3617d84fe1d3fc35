#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/numbered_frames.hpp"

namespace vmswitch::test {

/// An endless source of numbered frames of one size, in batches in wire form that are rewritten in
/// place: as cheap as a sender can be, so that a measurement measures the switch.
class numbered_batch {
public:
  /// @pre frames > 0, size as for numbered_frame()
  numbered_batch(mac_address destination, mac_address source, std::uint32_t sender,
                 std::size_t size, std::size_t frames);

  /// The next batch; valid until the next call.
  std::span<const std::byte> next();
  /// Frames in all batches so far.
  std::uint64_t frames() const noexcept { return sequence_; }

private:
  const std::uint32_t sender_;
  const std::size_t size_; // of a frame, without its prefix
  std::uint64_t sequence_ = 0;
  std::vector<std::byte> wire_;
};

} // namespace vmswitch::test
