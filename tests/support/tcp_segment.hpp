#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/support/frames.hpp"

namespace vmswitch::test {

/// A TCP segment without options, over IPv4.
struct tcp_segment {
  enum : std::uint8_t { fin = 1, syn = 2, rst = 4, psh = 8, ack = 16, urg = 32 };
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  std::uint8_t flags = 0;
  std::uint16_t window = 65535;
  std::string data = {};
};
frame tcp(const route& way, const tcp_segment& segment);
/// Options are skipped.
std::optional<tcp_segment> parse_tcp(const ipv4_packet& packet);

} // namespace vmswitch::test
