#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vmswitch {

/// Keeps a VM that misbehaves a thousand times a second from filling the log: at most so many lines
/// of one kind in an interval, and the number of those left out afterwards. Pure: the time is an
/// argument. Not thread-safe.
class complaint_limiter {
public:
  using clock = std::chrono::steady_clock;

  /// `most` lines of one kind in any `interval` that begins with the first of them.
  complaint_limiter(std::size_t most, clock::duration interval) noexcept
      : most_{most}, interval_{interval} {}

  struct verdict {
    bool say = false; ///< log this complaint
    /// With `say`: how many of this kind were left out since the last one that was said.
    std::size_t suppressed = 0;
    /// This one is the first to be left out: have take_suppressed() called when the interval is
    /// over, so that the number is told even if no more complaints come.
    bool first_suppressed = false;
  };

  /// Judges one complaint. `kind` is a short name from the program text, never from input; beyond
  /// `most_kinds` different ones the last kind is shared.
  verdict judge(std::string_view kind, clock::time_point now);

  struct summary {
    std::string kind;
    std::size_t suppressed = 0;
  };

  /// The kinds whose interval is over with complaints left out ("M more ..."), and forgets them.
  std::vector<summary> take_suppressed(clock::time_point now);

  static constexpr std::size_t most_kinds = 64;

private:
  struct entry {
    std::string kind;
    clock::time_point begin;
    std::size_t said = 0;
    std::size_t suppressed = 0;
  };

  entry& find(std::string_view kind, clock::time_point now);

  const std::size_t most_;
  const clock::duration interval_;
  std::vector<entry> entries_;
};

/// " (12 more suppressed)", or "" for 0: to be put behind a message.
std::string suppressed_note(std::size_t count);

} // namespace vmswitch
