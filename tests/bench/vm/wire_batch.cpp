#include "tests/bench/vm/wire_batch.hpp"

#include <charconv>

namespace vmswitch::bench {

namespace {

constexpr std::size_t fill_bytes = 64 * 1024;

} // namespace

std::optional<frame_sizes> frame_sizes::parse(std::string_view text) {
  if (text == "imix")
    return frame_sizes{{64, 590, 64, 64, 590, 64, 1514, 64, 590, 64, 64, 590}};
  std::size_t size = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (failure != std::errc{} || end != text.data() + text.size() || size < smallest_frame ||
      size > largest_frame)
    return std::nullopt;
  return frame_sizes{{size}};
}

wire_batch::wire_batch(mac_address source, mac_address destination, frame_kind kind,
                       const frame_sizes& sizes, std::size_t frames) {
  const auto cycle = sizes.cycle();
  for (std::size_t i = 0; frames == fill || i < frames; ++i) {
    const std::size_t size = cycle[i % cycle.size()];
    const std::size_t at = bytes_.size();
    if (frames == fill && i > 0 && at + prefix_size + size > fill_bytes)
      break;
    bytes_.resize(at + prefix_size + size);
    std::byte* const prefix = bytes_.data() + at;
    std::byte* const frame = prefix + prefix_size;
    write_prefix(prefix, static_cast<std::uint32_t>(size));
    destination.write(frame);
    source.write(frame + 6);
    frame[12] = std::byte{bench_ethertype >> 8};
    frame[13] = std::byte{bench_ethertype & 0xff};
    frame[kind_offset] = static_cast<std::byte>(kind);
    sequence_at_.push_back(at + prefix_size + sequence_offset);
  }
}

std::span<const std::byte> wire_batch::number(std::uint64_t first) noexcept {
  for (const std::size_t at : sequence_at_) {
    std::memcpy(bytes_.data() + at, &first, sizeof first);
    ++first;
  }
  return bytes_;
}

} // namespace vmswitch::bench
