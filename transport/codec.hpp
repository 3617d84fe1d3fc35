#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/frame/burst.hpp"
#include "transport/frame/skipped_frames.hpp"

namespace vmswitch {

/// Finds whole frames in a byte stream: 4-byte big-endian length, then the frame (QEMU's
/// net/stream.c, net/socket.c; no handshake, no FCS). Pure: no system call, no allocation of its
/// own, no copy.
///
/// Theory of operation. The bytes lie in a slab, [begin, end) of them not yet looked at. `scan`
/// marks the whole frames in a burst and says how far it came; what is behind (a partial frame)
/// is presented again, at its front, once more bytes have arrived. A length that cannot be a frame
/// of this network is of three kinds:
///  - 0..13, a runt: skipped and counted;
///  - max_frame+1 .. largest_length, what a client with a larger MTU sends: its bytes are skipped
///    as they come, without storing them, and it is counted when the last has come;
///  - more: no client sends that. The stream has lost its framing and is closed.
class frame_decoder {
public:
  /// The largest length that a well-behaved client produces: QEMU's buffer is 4096 + 65536.
  static constexpr std::uint32_t largest_length = 69632;

  /// @pre ethernet_header_size <= max_frame <= largest_length
  explicit frame_decoder(std::uint32_t max_frame) noexcept : max_frame_{max_frame} {}

  struct scan_result {
    std::uint32_t consumed = 0; ///< bytes from the front that are done with
    skipped_frames skipped;
    bool framing_lost = false; ///< close the stream; `bad_length` tells the log why
    std::uint32_t bad_length = 0;
  };

  /// Looks at data[begin, end) and appends its whole frames to `out`, whose slab `data` is. Marks
  /// `out`, if it was empty, as one flow where it is one.
  scan_result scan(const std::byte* data, std::uint32_t begin, std::uint32_t end, burst& out);

  /// True in the middle of a skipped frame (its bytes are still to come).
  bool skipping() const noexcept { return skip_ > 0; }

private:
  const std::uint32_t max_frame_;
  std::uint32_t skip_ = 0;    // bytes of a skipped frame still to come
  std::uint32_t skipped_ = 0; // its length
};

} // namespace vmswitch
