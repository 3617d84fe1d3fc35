#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The blocks of a pcapng stream, as far as a capture of Ethernet frames needs them
/// (draft-ietf-opsawg-pcapng-02, section 4). Little-endian, times in nanoseconds since 1970. Pure.
namespace vmswitch::pcapng {

enum class direction : std::uint8_t { inbound = 1, outbound = 2 }; // of epb_flags, section 4.3.1

/// Texts that are longer are cut: an option's length has 16 bits.
inline constexpr std::size_t max_text = 4096;

/// Section Header Block (4.1), of a section of unknown length. Empty texts are left out.
std::vector<std::byte> section_header(std::string_view application, std::string_view comment);

/// Interface Description Block (4.2). Interfaces are numbered from 0 in the order of these blocks.
struct interface_description {
  std::string_view name;
  std::string_view filter; // in libpcap's syntax; empty: none
  std::uint32_t snaplen;
};
std::vector<std::byte> to_block(const interface_description& value);

/// Enhanced Packet Block (4.3).
struct packet {
  std::uint32_t interface;
  std::uint64_t time_ns;
  direction way;
  std::uint32_t original_size;
  std::span<const std::byte> bytes; // captured; original_size of them, or the first snaplen
  std::uint64_t lost_before;        // frames since the one before on this interface
};
/// Bytes of the block for `captured` bytes of a frame.
constexpr std::size_t packet_block_size(std::size_t captured, bool lost_before) noexcept {
  return 28 + (captured + 3) / 4 * 4 + 8 + (lost_before ? 12 : 0) + 4 + 4;
}
/// Writes packet_block_size() bytes to `out`.
void write_block(std::byte* out, const packet& value) noexcept;

/// Interface Statistics Block (4.6): what became of the frames of one interface.
struct interface_statistics {
  std::uint32_t interface = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t received = 0;  // by the interface
  std::uint64_t accepted = 0;  // by the filter
  std::uint64_t delivered = 0; // to whoever reads the capture
  std::uint64_t lost = 0;      // accepted, but there was no room for them
};
std::vector<std::byte> to_block(const interface_statistics& value, std::string_view comment);

} // namespace vmswitch::pcapng
