#include "tests/support/tcp_segment.hpp"

#include <span>

namespace vmswitch::test {

namespace {

constexpr std::uint8_t protocol_tcp = 6;

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span{text});
}

} // namespace

frame tcp(const route& way, const tcp_segment& segment) {
  const auto covered = [&](std::uint16_t checksum) {
    return byte_writer{}
        .u16(segment.source_port)
        .u16(segment.destination_port)
        .u32(segment.sequence)
        .u32(segment.acknowledged)
        .u8(5 << 4)
        .u8(segment.flags)
        .u16(segment.window)
        .u16(checksum)
        .u16(0)
        .bytes(as_bytes(segment.data))
        .take();
  };
  const auto body = covered(0);
  const auto pseudo = byte_writer{}
                          .ip(way.source)
                          .ip(way.destination)
                          .u16(protocol_tcp)
                          .u16(static_cast<unsigned>(body.size()))
                          .bytes(body)
                          .take();
  return ipv4(way, protocol_tcp, covered(internet_checksum(pseudo)));
}

std::optional<tcp_segment> parse_tcp(const ipv4_packet& packet) {
  if (packet.protocol != protocol_tcp)
    return std::nullopt;
  byte_reader in{packet.payload};
  tcp_segment segment;
  segment.source_port = in.u16();
  segment.destination_port = in.u16();
  segment.sequence = in.u32();
  segment.acknowledged = in.u32();
  const std::size_t header = std::size_t{in.u8()} >> 4 << 2;
  segment.flags = in.u8();
  segment.window = in.u16();
  in.skip(4);
  if (!in.ok() || header < 20)
    return std::nullopt;
  in.skip(header - 20);
  if (!in.ok())
    return std::nullopt;
  for (const std::byte octet : in.rest())
    segment.data += std::to_integer<char>(octet);
  return segment;
}

} // namespace vmswitch::test
