#include "transport/frame/burst.hpp"

namespace vmswitch {

void burst::append_range(frame_range range) {
  if (rest_.empty()) {
    rest_.reserve(16);
    rest_.push_back(first_);
  }
  rest_.push_back(range);
  ++count_;
}

bool burst::merge(const burst& other) {
  if (empty() || other.empty() || !(memory_ == other.memory_) ||
      other.ranges().front().begin < last().end)
    return false;
  one_flow_ = false;
  frames_ += other.frames_;
  bytes_ += other.bytes_;
  for (const frame_range range : other.ranges()) {
    if (last().end == range.begin)
      last().end = range.end;
    else
      append_range(range);
  }
  return true;
}

} // namespace vmswitch
