#include "transport/codec.hpp"

#include <algorithm>
#include <cstring>

namespace vmswitch {

namespace {

std::uint32_t raw_prefix(const std::byte* at) noexcept {
  std::uint32_t raw;
  std::memcpy(&raw, at, sizeof raw);
  return raw;
}

// The addresses of the frame behind the prefix `at`: 12 octets in two loads that overlap.
struct addresses {
  explicit addresses(const std::byte* at) noexcept {
    std::memcpy(&head, at + prefix_size, sizeof head);
    std::memcpy(&tail, at + prefix_size + 4, sizeof tail);
  }
  std::uint64_t head;
  std::uint64_t tail;
};

constexpr auto prefix = static_cast<std::uint32_t>(prefix_size);
constexpr auto shortest_frame = static_cast<std::uint32_t>(ethernet_header_size);
constexpr std::byte no_frame[prefix_size + ethernet_header_size] = {};

} // namespace

frame_decoder::scan_result frame_decoder::scan(const std::byte* data, std::uint32_t begin,
                                               std::uint32_t end, burst& out) {
  scan_result result;
  std::uint32_t at = begin;
  // Bytes of a frame that is being skipped. Returns whether the last one was there.
  const auto skip = [&] {
    const std::uint32_t skipped = std::min(skip_, end - at);
    at += skipped;
    skip_ -= skipped;
    if (skip_ > 0)
      return false;
    ++(skipped_ < shortest_frame ? result.skipped.runts : result.skipped.oversize);
    result.skipped.bytes += skipped_;
    return true;
  };

  std::uint32_t run_begin = at;
  std::uint32_t run_frames = 0;
  const auto finish_run = [&] {
    if (run_frames > 0)
      out.append(run_begin, at, run_frames);
    run_frames = 0;
  };

  // Finding a frame needs the length of the one before, a load that often misses the cache. Most
  // frames are as long as their predecessor: a predicted branch on that lets the processor fetch
  // the next prefixes before this one has arrived. The first guess only has to be a valid pair.
  std::uint32_t step = prefix + shortest_frame;
  std::uint32_t raw_length = __builtin_bswap32(shortest_frame);

  if (skip_ > 0 && !skip()) {
    result.consumed = at - begin;
    return result;
  }
  run_begin = at;
  // The prefix has brought the addresses into the cache: comparing them costs next to nothing here.
  const bool was_empty = out.empty();
  const bool has_first = end - at >= prefix + shortest_frame;
  const addresses first{has_first ? data + at : no_frame};
  std::uint64_t differs = has_first ? 0 : 1;
  while (end - at >= prefix) {
    const std::uint32_t raw = raw_prefix(data + at);
    if (raw == raw_length) {
      if (end - at < step)
        break;
      const addresses here{data + at};
      differs |= (here.head ^ first.head) | (here.tail ^ first.tail);
      at += step;
      ++run_frames;
      continue;
    }
    const std::uint32_t length = __builtin_bswap32(raw);
    if (length >= shortest_frame && length <= max_frame_) {
      raw_length = raw;
      step = prefix + length;
      continue; // the branch above takes it
    }
    finish_run();
    if (length > largest_length) {
      result.framing_lost = true;
      result.bad_length = length;
      break;
    }
    skip_ = prefix + length;
    skipped_ = length;
    if (!skip())
      break;
    run_begin = at;
  }
  finish_run();
  if (was_empty && differs == 0 && !out.empty())
    out.mark_one_flow();
  result.consumed = at - begin;
  return result;
}

} // namespace vmswitch
