#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transport/frame/ethernet.hpp"

namespace vmswitch::bench {

/// What a frame of the benchmark is for; everything else on the wire is ignored.
enum class frame_kind : std::uint8_t {
  hello = 1, ///< broadcast, so that the switch learns its sender
  ack,       ///< unicast answer to a hello
  data,      ///< counted
  noise,     ///< makes the network busy; not counted
  request,   ///< broadcast: the host's model is to send data to who sent this ...
  enough,    ///< ... until it says so; then comes an ack with the number of frames sent
};

/// IEEE 802 local experimental EtherType 1 (RFC 9542, appendix B.2).
inline constexpr std::uint16_t bench_ethertype = 0x88b5;
/// Kind and sequence number stand behind the Ethernet header.
inline constexpr std::size_t kind_offset = ethernet_header_size;
inline constexpr std::size_t sequence_offset = ethernet_header_size + 2;
inline constexpr std::size_t smallest_frame = sequence_offset + sizeof(std::uint64_t);
inline constexpr std::size_t largest_frame = 65550;

/// The frame sizes of a workload, sent in turn.
class frame_sizes {
public:
  /// "1514", or "imix" for 7 x 64, 4 x 590 and 1 x 1514 bytes, spread evenly.
  /// Nothing when the size is not one of smallest_frame..largest_frame.
  static std::optional<frame_sizes> parse(std::string_view text);
  std::span<const std::size_t> cycle() const noexcept { return cycle_; }

private:
  explicit frame_sizes(std::vector<std::size_t> cycle) : cycle_{std::move(cycle)} {}
  std::vector<std::size_t> cycle_;
};

/// Frames in wire form, back to back, that one write sends. Only their sequence numbers change.
class wire_batch {
public:
  /// As many frames as fit into 64 KiB (but at least one).
  static constexpr std::size_t fill = 0;

  /// `frames` frames or `fill`.
  wire_batch(mac_address source, mac_address destination, frame_kind kind, const frame_sizes& sizes,
             std::size_t frames);

  /// Numbers the frames first, first + 1, ... and returns all bytes, valid until the next call.
  std::span<const std::byte> number(std::uint64_t first) noexcept;
  std::size_t frames() const noexcept { return sequence_at_.size(); }

private:
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> sequence_at_; // where each frame's sequence number stands
};

} // namespace vmswitch::bench
