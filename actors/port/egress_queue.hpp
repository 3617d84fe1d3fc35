#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include <sys/uio.h>

#include "transport/frame/burst.hpp"
#include "transport/frame/frame_tally.hpp"
#include "transport/frame/latency_histogram.hpp"
#include "transport/frame/port_counters.hpp"

namespace vmswitch {

/// The frames that wait to leave through one port.
///
/// Theory of operation. Bursts are kept in order, by reference, and given to the link as a list of
/// ranges; whatever the link accepted is removed from the front, and a burst's slab is let go with
/// its last byte. Time is bounded by the receiver: frames older than the deadline are dropped, so
/// that their slabs return to the sender. A receiver that accepted nothing for a whole deadline is
/// *stalled*: from then on frames to it are dropped at once instead of holding senders up again,
/// until it accepts something. The frame that the link has accepted in part is always completed
/// first, or the stream would lose its framing; when it expires its rest is copied out (the
/// *remainder*), so that even then no slab is held.
///
/// A receiver that reads, but too slowly, would never be stalled, and yet hold every sender up by
/// one deadline after the other. So each time that frames had to be dropped for their age, the age
/// allowed from then on is halved, down to a thirty-second of the deadline; a queue that empties is
/// given the whole deadline again.
///
/// A burst that follows on in the same slab is merged into its predecessor while that one is
/// young, so many small bursts cost no more than a large one; merged frames are counted from the
/// arrival of the first, and thus dropped up to a sixteenth of the deadline early.
/// Pure: time is an argument. One owner.
class egress_queue {
public:
  using clock = std::chrono::steady_clock;

  /// @pre most_bursts > 0, deadline > 0
  egress_queue(std::size_t most_bursts, clock::duration deadline)
      : most_bursts_{most_bursts}, deadline_{deadline}, allowed_{deadline} {}

  /// Other limits from now on, for what waits already too. @pre as above
  void change_limits(std::size_t most_bursts, clock::duration deadline) noexcept {
    most_bursts_ = most_bursts;
    deadline_ = deadline;
    allowed_ = deadline;
  }

  /// Appends the frames, or drops and counts them (egress_stalled, egress_full).
  void push(const burst& frames, clock::time_point now);

  /// For a stalled receiver whose link cannot tell when it recovers: appends the frames for one
  /// try at writing; end_probe() drops and counts what the link did not take.
  void begin_probe(const burst& frames, clock::time_point now);
  void end_probe();

  /// Fills `wire` with what is to be written next; returns how many ranges. 0: nothing to write.
  std::size_t gather(std::span<iovec> wire) const;

  /// Removes `bytes` that a link accepted from the front; 0 is allowed.
  void accepted(std::size_t bytes, clock::time_point now);

  /// Says that the link takes no more for now, or that it may again.
  void blocked(clock::time_point now);
  void unblocked() noexcept;
  bool is_blocked() const noexcept { return blocked_; }

  /// Drops what is older than it may be. Returns when to call again, nothing while no frame
  /// waits.
  std::optional<clock::time_point> expire(clock::time_point now);

  /// Drops everything, counted as port_closed.
  void close();

  bool empty() const noexcept { return entries_.empty() && remainder_.empty(); }
  bool stalled() const noexcept { return stalled_; }
  std::size_t bursts() const noexcept { return entries_.size(); }

  /// Frames, and their bytes without prefixes, that left; counted with their burst's last byte.
  std::uint64_t frames_out() const noexcept { return frames_out_; }
  std::uint64_t bytes_out() const noexcept { return bytes_out_; }
  const drop_counters& drops() const noexcept { return drops_; }
  /// How long the frames that left had waited; merged ones count from their burst's first.
  const latency_histogram& waited() const noexcept { return waited_; }

  /// Frames that wait, one that has been accepted in part included. Walks over the bursts.
  std::uint64_t frames() const noexcept;
  /// When the oldest of them came.
  std::optional<clock::time_point> oldest() const noexcept;

private:
  struct entry {
    burst frames;
    clock::time_point since;
  };

  frame_tally sent_of_front();
  void drop_front(drop_reason reason);
  void drop_all(drop_reason reason);
  void pop_front(const frame_tally& sent);

  std::size_t most_bursts_;
  clock::duration deadline_;
  clock::duration allowed_; // the age at which frames are dropped: deadline_, or less
  std::deque<entry> entries_;
  // How far the front entry has been accepted: whole ranges, then bytes of the next one.
  std::size_t front_range_ = 0;
  std::uint32_t front_offset_ = 0;
  std::vector<std::byte> remainder_; // the rest of an expired, half-written frame
  std::size_t remainder_sent_ = 0;
  bool stalled_ = false;
  clock::time_point progress_{}; // when the link last accepted something, or began to block
  bool blocked_ = false;

  std::uint64_t frames_out_ = 0;
  std::uint64_t bytes_out_ = 0;
  drop_counters drops_;
  latency_histogram waited_;
};

} // namespace vmswitch
