#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/support/bytes.hpp"
#include "transport/frame/ethernet.hpp"

namespace vmswitch::test {

inline constexpr std::uint16_t type_ipv4 = 0x0800;
inline constexpr std::uint16_t type_arp = 0x0806;
inline constexpr std::uint16_t type_vlan = 0x8100;
inline constexpr std::uint16_t type_ipv6 = 0x86dd;

/// An Ethernet frame of exactly header + payload: nothing is padded.
frame ethernet(mac_address destination, mac_address source, std::uint16_t type,
               std::span<const std::byte> payload);
/// The same frame with an 802.1Q tag between the addresses and the type.
/// @pre untagged holds an Ethernet header; vlan < 4096
frame tagged(std::span<const std::byte> untagged, std::uint16_t vlan);

/// A frame in wire form: 4-byte big-endian length, then the frame.
std::vector<std::byte> wire_form(std::span<const std::byte> bare);
/// Appends it, so that a batch is one write.
void append_wire_form(std::vector<std::byte>& out, std::span<const std::byte> bare);

/// ARP for IPv4 over Ethernet (RFC 826).
struct arp_packet {
  enum : std::uint16_t { request = 1, reply = 2 };
  std::uint16_t operation = request;
  mac_address sender_mac;
  ipv4_address sender;
  mac_address target_mac;
  ipv4_address target;
};
frame arp_request(mac_address sender_mac, ipv4_address sender, ipv4_address target);
frame arp_reply(mac_address sender_mac, ipv4_address sender, mac_address target_mac,
                ipv4_address target);
/// Nothing for a frame that is not such a packet, whole and well-formed.
std::optional<arp_packet> parse_arp(std::span<const std::byte> bare);

/// Between whom an IPv4 packet travels, on both layers.
struct route {
  mac_address source_mac;
  mac_address destination_mac;
  ipv4_address source;
  ipv4_address destination;
  /// The way back.
  route reversed() const noexcept { return {destination_mac, source_mac, destination, source}; }
};

inline constexpr std::uint8_t protocol_icmp = 1;
inline constexpr std::uint8_t protocol_udp = 17;

/// An unfragmented IPv4 packet with a correct header checksum (RFC 791).
frame ipv4(const route& way, std::uint8_t protocol, std::span<const std::byte> payload);

struct ipv4_packet {
  route way;
  std::uint8_t protocol = 0;
  std::span<const std::byte> payload; // points into the parsed frame
};
/// Nothing for fragments, options that do not fit, a wrong length or a wrong checksum.
std::optional<ipv4_packet> parse_ipv4(std::span<const std::byte> bare);

/// ICMP echo (RFC 792).
struct echo {
  bool is_reply = false;
  std::uint16_t identifier = 0;
  std::uint16_t sequence = 0;
  std::vector<std::byte> data;
};
frame icmp_echo(const route& way, const echo& message);
/// Nothing for another ICMP type or a wrong checksum.
std::optional<echo> parse_icmp_echo(const ipv4_packet& packet);

/// A UDP datagram with a correct checksum (RFC 768).
frame udp(const route& way, std::uint16_t source_port, std::uint16_t destination_port,
          std::span<const std::byte> payload);

struct udp_datagram {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::span<const std::byte> payload;
};
/// Nothing for a wrong length; a checksum of zero means that the sender computed none.
std::optional<udp_datagram> parse_udp(const ipv4_packet& packet);

/// ICMPv6 router solicitation from the link-local address of `source` (RFC 4861, 4.1): makes a
/// router announce itself.
frame router_solicitation(mac_address source);

/// The ones'-complement sum of 16-bit words, complemented (RFC 1071).
std::uint16_t internet_checksum(std::span<const std::byte> bytes);

} // namespace vmswitch::test
