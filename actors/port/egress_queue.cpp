#include "actors/port/egress_queue.hpp"

#include <algorithm>
#include <cassert>

namespace vmswitch {

void egress_queue::push(const burst& frames, clock::time_point now) {
  if (frames.empty())
    return;
  if (stalled_) {
    drops_.add(drop_reason::egress_stalled, frames.frames());
    return;
  }
  if (!entries_.empty() && now - entries_.back().since <= deadline_ / 16 &&
      entries_.back().frames.merge(frames))
    return;
  if (entries_.size() >= most_bursts_) {
    drops_.add(drop_reason::egress_full, frames.frames());
    return;
  }
  entries_.push_back({frames, now});
}

void egress_queue::begin_probe(const burst& frames, clock::time_point now) {
  assert(stalled_ && entries_.empty());
  entries_.push_back({frames, now});
}

void egress_queue::end_probe() {
  if (stalled_)
    drop_all(drop_reason::egress_stalled);
}

std::size_t egress_queue::gather(std::span<iovec> wire) const {
  std::size_t filled = 0;
  if (!remainder_.empty() && !wire.empty())
    wire[filled++] = {const_cast<std::byte*>(remainder_.data()) + remainder_sent_,
                      remainder_.size() - remainder_sent_};
  std::size_t skip_ranges = front_range_;
  std::uint32_t skip_bytes = front_offset_;
  for (const entry& each : entries_) {
    for (const frame_range range : each.frames.ranges().subspan(skip_ranges)) {
      if (filled == wire.size())
        return filled;
      // iovec serves readers and writers alike; a link never writes through it here.
      wire[filled++] = {const_cast<std::byte*>(each.frames.data()) + range.begin + skip_bytes,
                        range.end - range.begin - skip_bytes};
      skip_bytes = 0;
    }
    skip_ranges = 0;
  }
  return filled;
}

void egress_queue::accepted(std::size_t bytes, clock::time_point now) {
  if (bytes == 0)
    return;
  progress_ = now;
  stalled_ = false;
  if (!remainder_.empty()) {
    const std::size_t sent = std::min(bytes, remainder_.size() - remainder_sent_);
    remainder_sent_ += sent;
    bytes -= sent;
    if (remainder_sent_ == remainder_.size()) {
      remainder_.clear();
      remainder_sent_ = 0;
    }
  }
  while (bytes > 0) {
    assert(!entries_.empty());
    const burst& front = entries_.front().frames;
    const auto ranges = front.ranges();
    const frame_range range = ranges[front_range_];
    const std::uint32_t left = range.end - range.begin - front_offset_;
    if (bytes < left) {
      front_offset_ += static_cast<std::uint32_t>(bytes);
      return;
    }
    bytes -= left;
    front_offset_ = 0;
    if (++front_range_ == ranges.size()) {
      waited_.add(now - entries_.front().since, front.frames());
      pop_front({front.frames(), front.frame_bytes()});
    }
  }
  if (entries_.empty())
    allowed_ = deadline_; // it keeps up again
}

void egress_queue::pop_front(const frame_tally& sent) {
  frames_out_ += sent.frames;
  bytes_out_ += sent.bytes;
  entries_.pop_front();
  front_range_ = 0;
  front_offset_ = 0;
}

// What has been accepted of the front entry, a half-accepted frame included, whose rest becomes
// the remainder. Only here are frame boundaries looked for: a queue that drains never needs them.
frame_tally egress_queue::sent_of_front() {
  const burst& front = entries_.front().frames;
  frame_tally sent;
  for (std::size_t i = 0; i <= front_range_; ++i) {
    const frame_range range = front.ranges()[i];
    const std::uint32_t stop = i < front_range_ ? range.end : range.begin + front_offset_;
    for (std::uint32_t at = range.begin; at < stop;) {
      const std::uint32_t length = read_prefix(front.data() + at);
      const std::uint32_t end = at + static_cast<std::uint32_t>(prefix_size) + length;
      sent.add(length);
      if (end > stop) {
        assert(remainder_.empty());
        remainder_.assign(front.data() + stop, front.data() + end);
      }
      at = end;
    }
  }
  return sent;
}

void egress_queue::drop_front(drop_reason reason) {
  const std::uint32_t all = entries_.front().frames.frames();
  const frame_tally sent = sent_of_front();
  drops_.add(reason, all - sent.frames);
  pop_front(sent);
}

void egress_queue::blocked(clock::time_point now) {
  if (!blocked_) {
    blocked_ = true;
    progress_ = now;
  }
}

void egress_queue::unblocked() noexcept {
  blocked_ = false;
  stalled_ = false;
}

std::optional<egress_queue::clock::time_point> egress_queue::expire(clock::time_point now) {
  const clock::duration allowed = allowed_;
  while (!entries_.empty() && now - entries_.front().since >= allowed) {
    drop_front(drop_reason::egress_expired);
    allowed_ = std::max(allowed / 2, deadline_ / 32);
  }
  if (blocked_ && now - progress_ >= deadline_) {
    stalled_ = true;
    drop_all(drop_reason::egress_stalled); // younger than the deadline, but nothing takes them
  }
  if (entries_.empty())
    return std::nullopt;
  return entries_.front().since + allowed_;
}

std::uint64_t egress_queue::frames() const noexcept {
  std::uint64_t sum = 0;
  for (const entry& each : entries_)
    sum += each.frames.frames();
  return sum;
}

std::optional<egress_queue::clock::time_point> egress_queue::oldest() const noexcept {
  return entries_.empty() ? std::nullopt : std::optional{entries_.front().since};
}

void egress_queue::drop_all(drop_reason reason) {
  while (!entries_.empty())
    drop_front(reason);
}

void egress_queue::close() {
  drop_all(drop_reason::port_closed);
  remainder_.clear();
  remainder_sent_ = 0;
}

} // namespace vmswitch
