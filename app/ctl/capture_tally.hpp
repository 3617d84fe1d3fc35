#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vmswitch {

/// Counts what passes by in a capture of vmswitchd's, and reads what its last blocks tell.
///
/// A pcapng stream (little-endian) goes in, in pieces of any size. What is no such stream counts
/// for nothing: from the first impossible length on nothing more is read. Pure.
class capture_tally {
public:
  void take(std::string_view piece);

  std::uint64_t frames() const noexcept { return frames_; }
  /// Frames that the capture wanted and had no room for: known at its end.
  std::uint64_t lost() const noexcept { return lost_; }
  /// Whether it has ended in order, and why, in the daemon's words; may be empty.
  bool ended() const noexcept { return ended_; }
  const std::string& reason() const noexcept { return reason_; }

private:
  static constexpr std::size_t header_size = 8;
  static constexpr std::uint32_t most_kept = 64 * 1024;

  void begin_block();
  void read_statistics();

  std::string header_; // of the present block
  std::string kept_;   // its body, if that is looked at
  std::uint32_t type_ = 0;
  std::uint64_t left_ = 0; // bytes of it
  bool is_kept_ = false;
  bool is_broken_ = false;
  std::uint64_t frames_ = 0;
  std::uint64_t lost_ = 0;
  bool ended_ = false;
  std::string reason_;
};

} // namespace vmswitch
