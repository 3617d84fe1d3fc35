#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/frame/mac_address.hpp"
#include "vmnet/ipv4.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

/// An address of either family, octets in wire order.
struct packet_address {
  std::array<std::uint8_t, 16> octets{}; ///< IPv4: the first four
  bool is_ipv6 = false;

  packet_address() = default;
  explicit packet_address(ipv4_address address) noexcept;
  explicit packet_address(const ipv6_address& address) noexcept
      : octets{address.octets}, is_ipv6{true} {}
  friend auto operator<=>(const packet_address&, const packet_address&) = default;
};

/// Between whom packets of a service travel: a VM and an address that the service answers for.
struct ip_path {
  mac_address peer_mac;
  mac_address own_mac;
  packet_address peer;
  packet_address own;
  std::uint16_t peer_port = 0;
  std::uint16_t own_port = 0;
  friend auto operator<=>(const ip_path&, const ip_path&) = default;
};

inline constexpr std::uint8_t protocol_of_tcp = 6, protocol_of_udp = 17;

struct ip_packet {
  ip_path path;
  std::uint8_t protocol = 0;
  /// Of UDP the payload; of TCP the segment with its header, which has 20 bytes at least.
  std::span<const std::byte> content;
};

/// The port that a frame with UDP or TCP goes to, and over which protocol: for a quick look, with
/// nothing checked but that the bytes are there. No port if it is no such frame.
struct quick_look {
  std::uint8_t protocol = 0;
  std::uint16_t port = 0;
};
inline quick_look look_at_port(std::span<const std::byte> frame) noexcept {
  if (frame.size() < 14 + 20 + 4)
    return {};
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(frame[i]); };
  std::size_t header = 0, protocol = 0;
  if (at(12) == 0x08 && at(13) == 0x00) {
    header = (at(14) & 15) * 4;
    protocol = at(23);
  } else if (at(12) == 0x86 && at(13) == 0xdd) {
    header = 40;
    protocol = at(20);
  }
  if ((protocol != protocol_of_udp && protocol != protocol_of_tcp) ||
      frame.size() < 14 + header + 4)
    return {};
  return {static_cast<std::uint8_t>(protocol),
          static_cast<std::uint16_t>(at(16 + header) << 8 | at(17 + header))};
}

/// Reads a whole, unfragmented packet with UDP or TCP over IPv4 or IPv6 (RFC 791, 8200, 768, 9293).
/// Nothing for one with wrong lengths or a wrong checksum, extension headers, or a source that
/// cannot be answered: a group, the unspecified address.
std::optional<ip_packet> parse_ip_packet(std::span<const std::byte> frame);

/// A frame from `path.own` to `path.peer`, with its checksums. `content` is as in ip_packet; the
/// checksum in a TCP header is put in.
std::vector<std::byte> make_udp_frame(const ip_path& path, std::span<const std::byte> payload);
std::vector<std::byte> make_tcp_frame(const ip_path& path, std::span<const std::byte> segment);

/// The checksum to put in where there are zeros; 0 of a header that holds its own (RFC 791, 3.1).
std::uint16_t ipv4_header_checksum(std::span<const std::byte> header) noexcept;

/// Bytes that the headers of IP take.
constexpr std::size_t ip_header_size(bool is_ipv6) noexcept {
  return is_ipv6 ? 40 : 20;
}

} // namespace vmswitch
