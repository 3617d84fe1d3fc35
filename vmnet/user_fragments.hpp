#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <utility>

#include "transport/frame/frame_tally.hpp"

namespace vmswitch {

/// Puts IPv4 packets that come in fragments together, so that libslirp sees whole ones only.
///
/// Theory of operation. libslirp 4.7 does that as well, but ends the process when fragments come in
/// an order that it does not expect, and limits neither their number nor their memory. Here
/// (RFC 791, 3.2) a packet under way is one buffer of the largest size and one bit for each 8 bytes
/// that have come; it is whole when its end is known and all before it has come. What contradicts
/// itself is discarded with all that has come of it: data beyond the end, and data that comes
/// twice, even if it is the same (RFC 5722 tells why).
///
/// Packets under way belong to a MAC address, which nobody else can add to. At a limit the oldest
/// makes room: of the VM that sends, so that one whose fragments lead nowhere loses only its own;
/// with very many senders, of anybody. A packet whose fragments come in a row gets through.
///
/// Not here: which packets may pass, which is user_filter's. Pure: time is told.
class user_fragments {
public:
  static constexpr std::chrono::milliseconds lifetime{5'000};
  /// Packets under way, each of which takes 64 KiB.
  static constexpr std::size_t most = 64, most_of_one = 16;

  struct outcome {
    /// The packet with the headers of its first fragment, if it is whole now; else empty. Valid
    /// until the next call of add.
    std::span<const std::byte> frame;
    frame_tally came_as; ///< the fragments
  };

  /// @pre user_filter takes the frame for a fragment. `now` only ever grows.
  outcome add(std::span<const std::byte> frame, std::chrono::milliseconds now);
  /// Discards packets that have been under way for too long.
  void expire(std::chrono::milliseconds now);
  std::size_t under_way() const noexcept { return packets_.size(); }
  /// Fragments that were discarded since the last call.
  frame_tally take_dropped() noexcept { return std::exchange(dropped_, {}); }

private:
  static constexpr std::size_t headers = 14 + 20, largest = 65'535 - 20;

  struct key {
    std::uint64_t sender; // MAC address
    std::uint64_t way;    // both IP addresses
    std::uint16_t number;
    std::uint8_t protocol;
    friend bool operator==(const key&, const key&) = default;
  };
  struct part {
    std::size_t begin, end; // bytes of the packet's data
    bool is_last;
  };
  struct packet {
    key is;
    std::chrono::milliseconds due;
    std::unique_ptr<std::byte[]> frame =
        std::make_unique_for_overwrite<std::byte[]>(headers + largest);
    std::bitset<(largest + 7) / 8> come;
    std::size_t received = 0; // that have come
    std::size_t furthest = 0; // end of what has come
    std::size_t length = 0;   // 0 while the end is unknown
    frame_tally fragments;
    bool take(const part& one, std::span<const std::byte> from);
  };
  using packets = std::list<packet>;

  static key key_of(std::span<const std::byte> frame);
  packets::iterator begin_packet(const key& is, std::chrono::milliseconds now);
  void drop(packets::iterator which);
  outcome finish(packets::iterator which);

  packets packets_; // the oldest first
  std::unique_ptr<std::byte[]> whole_;
  frame_tally dropped_;
};

} // namespace vmswitch
