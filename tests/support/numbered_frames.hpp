#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/frames.hpp"

namespace vmswitch::test {

/// Theory of operation. A numbered frame says who sent it and which of the sender's frames it is;
/// the rest of it is a pattern that follows from that number, so that the receiver can tell every
/// way in which a network may fail: lost, reordered, duplicated, damaged, delivered to the wrong
/// one. The Ethernet type is the one reserved for local experiments (IEEE 802-2014, 9.2.4), so no
/// stack reacts to it.
inline constexpr std::uint16_t type_numbered = 0x88b5;
/// The smallest frame that can be numbered: Ethernet header, magic, sender, sequence number, size.
inline constexpr std::size_t smallest_numbered_frame = 14 + 4 + 4 + 8 + 4;

struct frame_number {
  std::uint32_t sender = 0;
  std::uint64_t sequence = 0;
  friend bool operator==(frame_number, frame_number) = default;
};

/// @pre smallest_numbered_frame <= size <= 65,550
frame numbered_frame(mac_address destination, mac_address source, frame_number number,
                     std::size_t size);
/// Writes number and pattern into a frame that has its Ethernet header already.
/// @pre as above, for bare.size()
void write_number(std::span<std::byte> bare, frame_number number);
/// Nothing for a frame that is not a numbered one.
std::optional<frame_number> read_number(std::span<const std::byte> bare);
/// True if the frame has the size and the pattern with which it was sent.
bool is_intact(std::span<const std::byte> bare, frame_number number);

/// Checks what one receiver gets of one sender, whose sequence numbers begin at 0.
class sequence_checker {
public:
  explicit sequence_checker(std::uint32_t sender) : sender_{sender} {}

  void on_frame(std::span<const std::byte> bare);

  /// Frames of this sender, intact, each number counted once.
  std::uint64_t received() const noexcept { return received_; }
  /// Of these: frames that arrived after one with a higher number.
  std::uint64_t reordered() const noexcept { return reordered_; }
  /// Frames whose number had been received before.
  std::uint64_t duplicated() const noexcept { return duplicated_; }
  /// Frames of this sender whose bytes were not those that were sent.
  std::uint64_t damaged() const noexcept { return damaged_; }
  /// Frames that are not numbered, of another sender, or with a number beyond `largest_sequence`.
  std::uint64_t foreign() const noexcept { return foreign_; }
  /// How many of the numbers 0 .. sent-1 have not been received.
  std::uint64_t lost(std::uint64_t sent) const noexcept;
  /// True if exactly the numbers 0 .. sent-1 came, once each, in order and intact, and nothing
  /// else.
  bool perfect(std::uint64_t sent) const noexcept;
  /// "received 10, lost 1 (first 3), reordered 0, ...", for a failing test.
  std::string summary(std::uint64_t sent) const;

  /// Keeps the memory of a checker (a bit per number) at 32 MiB.
  static constexpr std::uint64_t largest_sequence = (std::uint64_t{1} << 28) - 1;

private:
  bool seen(std::uint64_t sequence) const noexcept {
    return sequence < seen_.size() && seen_[sequence];
  }

  const std::uint32_t sender_;
  std::vector<bool> seen_; // up to the highest number received
  std::uint64_t received_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t duplicated_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t foreign_ = 0;
};

} // namespace vmswitch::test
