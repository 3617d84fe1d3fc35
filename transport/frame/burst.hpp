#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "transport/frame/ethernet.hpp"
#include "transport/frame/slab.hpp"

namespace vmswitch {

/// Offsets into a slab's data of one or more neighbouring whole frames in wire form.
struct frame_range {
  std::uint32_t begin;
  std::uint32_t end;
  friend bool operator==(frame_range, frame_range) = default;
};

/// Frames that share one slab: what every layer hands to the next.
///
/// Frames stand in wire form (4-byte big-endian length, then the frame), in the order in which
/// they were received. Neighbours are kept as one range, so the usual burst is a single range and
/// costs no allocation, however many frames it holds. Frames in a burst are whole and at least
/// `ethernet_header_size` long: the codec has seen to that. A burst is a value; a copy shares the
/// slab. Its bytes are immutable.
class burst {
public:
  burst() noexcept = default;
  explicit burst(slab_ref memory) noexcept : memory_{std::move(memory)} {}

  /// Appends `frames` whole frames that stand at [begin, end).
  /// @pre begin < end <= slab::capacity, frames > 0, begin >= the end of the last range
  void append(std::uint32_t begin, std::uint32_t end, std::uint32_t frames) {
    frames_ += frames;
    bytes_ += end - begin;
    one_flow_ = false;
    if (count_ == 0) {
      first_ = {begin, end};
      count_ = 1;
    } else if (last().end == begin) {
      last().end = end;
    } else {
      append_range({begin, end});
    }
  }

  /// Says that all frames have the first one's addresses. Whoever fills a burst may know it at no
  /// cost, and who forwards it need not look at each frame again. Undone by append() and merge().
  void mark_one_flow() noexcept { one_flow_ = true; }
  /// False: not known.
  bool one_flow() const noexcept { return one_flow_; }

  bool empty() const noexcept { return frames_ == 0; }
  std::uint32_t frames() const noexcept { return frames_; }
  /// Bytes in wire form, prefixes included.
  std::uint32_t wire_bytes() const noexcept { return bytes_; }
  /// Bytes of the frames alone.
  std::uint32_t frame_bytes() const noexcept {
    return bytes_ - frames_ * static_cast<std::uint32_t>(prefix_size);
  }
  std::span<const frame_range> ranges() const noexcept {
    return rest_.empty() ? std::span{&first_, count_} : std::span<const frame_range>{rest_};
  }
  const slab_ref& memory() const noexcept { return memory_; }
  const std::byte* data() const noexcept { return memory_->data(); }

  /// Calls `visit(std::span<const std::byte> frame)` for each frame, in order.
  template <class Visit>
  void for_each_frame(Visit&& visit) const {
    for (const frame_range range : ranges())
      for (std::uint32_t at = range.begin; at < range.end;) {
        const std::uint32_t length = read_prefix(data() + at);
        visit(std::span{data() + at + prefix_size, length});
        at += static_cast<std::uint32_t>(prefix_size) + length;
      }
  }

  /// Appends all frames of `other` if they share this slab and follow on: a queue that merges
  /// stays as short as its memory. Returns false, and does nothing, otherwise.
  bool merge(const burst& other);

private:
  frame_range& last() noexcept { return rest_.empty() ? first_ : rest_.back(); }
  void append_range(frame_range range);

  slab_ref memory_;
  std::uint32_t frames_ = 0;
  std::uint32_t bytes_ = 0;
  std::uint32_t count_ = 0; // ranges
  bool one_flow_ = false;
  frame_range first_{0, 0};
  std::vector<frame_range> rest_; // all ranges, as soon as there is more than one
};

} // namespace vmswitch
