#include "tests/support/frames.hpp"

#include <algorithm>

namespace vmswitch::test {

namespace {

constexpr unsigned ipv4_over_ethernet[] = {1, type_ipv4, 0x0604}; // hardware, protocol, sizes
constexpr std::size_t ipv4_header_size = 20;

void put16(std::vector<std::byte>& bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value);
}

frame arp(mac_address destination, const arp_packet& packet) {
  byte_writer body;
  for (const unsigned field : ipv4_over_ethernet)
    body.u16(field);
  body.u16(packet.operation)
      .mac(packet.sender_mac)
      .ip(packet.sender)
      .mac(packet.target_mac)
      .ip(packet.target);
  return ethernet(destination, packet.sender_mac, type_arp, body.take());
}

// The header that UDP's checksum covers besides its own bytes (RFC 768).
std::uint16_t udp_checksum(const route& way, std::span<const std::byte> datagram) {
  byte_writer covered;
  covered.ip(way.source)
      .ip(way.destination)
      .u16(protocol_udp)
      .u16(static_cast<unsigned>(datagram.size()))
      .bytes(datagram);
  return internet_checksum(covered.take());
}

} // namespace

frame ethernet(mac_address destination, mac_address source, std::uint16_t type,
               std::span<const std::byte> payload) {
  return byte_writer{}.mac(destination).mac(source).u16(type).bytes(payload).take();
}

frame tagged(std::span<const std::byte> untagged, std::uint16_t vlan) {
  return byte_writer{}
      .bytes(untagged.first(12))
      .u16(type_vlan)
      .u16(vlan)
      .bytes(untagged.subspan(12))
      .take();
}

std::vector<std::byte> wire_form(std::span<const std::byte> bare) {
  std::vector<std::byte> out;
  append_wire_form(out, bare);
  return out;
}

void append_wire_form(std::vector<std::byte>& out, std::span<const std::byte> bare) {
  const auto at = out.size();
  out.resize(at + prefix_size);
  write_prefix(out.data() + at, static_cast<std::uint32_t>(bare.size()));
  out.insert(out.end(), bare.begin(), bare.end());
}

frame arp_request(mac_address sender_mac, ipv4_address sender, ipv4_address target) {
  return arp(broadcast_mac, {arp_packet::request, sender_mac, sender, {}, target});
}

frame arp_reply(mac_address sender_mac, ipv4_address sender, mac_address target_mac,
                ipv4_address target) {
  return arp(target_mac, {arp_packet::reply, sender_mac, sender, target_mac, target});
}

std::optional<arp_packet> parse_arp(std::span<const std::byte> bare) {
  const auto outer = ethernet_view::parse(bare);
  if (!outer || outer->type() != type_arp)
    return std::nullopt;
  byte_reader in{outer->payload()};
  for (const unsigned field : ipv4_over_ethernet)
    if (in.u16() != field)
      return std::nullopt;
  arp_packet packet;
  packet.operation = in.u16();
  packet.sender_mac = in.mac();
  packet.sender = in.ip();
  packet.target_mac = in.mac();
  packet.target = in.ip();
  if (!in.ok())
    return std::nullopt;
  return packet;
}

frame ipv4(const route& way, std::uint8_t protocol, std::span<const std::byte> payload) {
  auto header = byte_writer{}
                    .u16(0x4500) // version 4, five words, best effort
                    .u16(static_cast<unsigned>(ipv4_header_size + payload.size()))
                    .u16(0)
                    .u16(0x4000) // do not fragment
                    .u8(64)
                    .u8(protocol)
                    .u16(0) // checksum
                    .ip(way.source)
                    .ip(way.destination)
                    .take();
  put16(header, 10, internet_checksum(header));
  header.insert(header.end(), payload.begin(), payload.end());
  return ethernet(way.destination_mac, way.source_mac, type_ipv4, header);
}

std::optional<ipv4_packet> parse_ipv4(std::span<const std::byte> bare) {
  const auto outer = ethernet_view::parse(bare);
  if (!outer || outer->type() != type_ipv4)
    return std::nullopt;
  byte_reader in{outer->payload()};
  const unsigned version_and_size = in.u8();
  const std::size_t header_size = (version_and_size & 15) * 4;
  in.skip(1);
  const std::size_t total = in.u16();
  in.skip(2);
  const unsigned fragment = in.u16();
  in.skip(1);
  ipv4_packet packet;
  packet.protocol = in.u8();
  in.skip(2);
  packet.way = {outer->source(), outer->destination(), in.ip(), in.ip()};
  if (!in.ok() || version_and_size >> 4 != 4 || header_size < ipv4_header_size ||
      total < header_size || total > outer->payload().size() || (fragment & 0x3fff) != 0 ||
      internet_checksum(outer->payload().first(header_size)) != 0)
    return std::nullopt;
  // What is behind `total` is padding of a short frame.
  packet.payload = outer->payload().subspan(header_size, total - header_size);
  return packet;
}

frame icmp_echo(const route& way, const echo& message) {
  auto body = byte_writer{}
                  .u16(message.is_reply ? 0x0000 : 0x0800)
                  .u16(0) // checksum
                  .u16(message.identifier)
                  .u16(message.sequence)
                  .bytes(message.data)
                  .take();
  put16(body, 2, internet_checksum(body));
  return ipv4(way, protocol_icmp, body);
}

std::optional<echo> parse_icmp_echo(const ipv4_packet& packet) {
  byte_reader in{packet.payload};
  const unsigned type_and_code = in.u16();
  in.skip(2);
  echo message{type_and_code == 0, in.u16(), in.u16(), {}};
  if (packet.protocol != protocol_icmp || !in.ok() ||
      (type_and_code != 0x0000 && type_and_code != 0x0800) ||
      internet_checksum(packet.payload) != 0)
    return std::nullopt;
  message.data.assign(in.rest().begin(), in.rest().end());
  return message;
}

frame udp(const route& way, std::uint16_t source_port, std::uint16_t destination_port,
          std::span<const std::byte> payload) {
  auto datagram = byte_writer{}
                      .u16(source_port)
                      .u16(destination_port)
                      .u16(static_cast<unsigned>(8 + payload.size()))
                      .u16(0) // checksum
                      .bytes(payload)
                      .take();
  const auto checksum = udp_checksum(way, datagram);
  put16(datagram, 6, checksum == 0 ? std::uint16_t{0xffff} : checksum); // 0 would mean "none"
  return ipv4(way, protocol_udp, datagram);
}

std::optional<udp_datagram> parse_udp(const ipv4_packet& packet) {
  byte_reader in{packet.payload};
  udp_datagram datagram;
  datagram.source_port = in.u16();
  datagram.destination_port = in.u16();
  const std::size_t length = in.u16();
  const unsigned checksum = in.u16();
  if (packet.protocol != protocol_udp || !in.ok() || length < 8 || length > packet.payload.size())
    return std::nullopt;
  const auto whole = packet.payload.first(length);
  if (checksum != 0 && udp_checksum(packet.way, whole) != 0)
    return std::nullopt;
  datagram.payload = whole.subspan(8);
  return datagram;
}

frame router_solicitation(mac_address source) {
  // fe80::/64 with the interface identifier of RFC 4291, appendix A.
  const auto own = source.integer();
  const auto from = byte_writer{}
                        .u16(0xfe80)
                        .zeros(6)
                        .u16(static_cast<unsigned>(own >> 32) ^ 0x0200)
                        .u8(static_cast<unsigned>(own >> 24 & 0xff))
                        .u16(0xfffe)
                        .u8(static_cast<unsigned>(own >> 16 & 0xff))
                        .u16(static_cast<unsigned>(own & 0xffff))
                        .take();
  const auto all_routers = byte_writer{}.u16(0xff02).zeros(13).u8(2).take();
  auto body = byte_writer{}
                  .u16(133 << 8)
                  .u16(0) // checksum
                  .u32(0)
                  .u16(0x0101) // option: source link-layer address, 8 bytes
                  .mac(source)
                  .take();
  auto covered = byte_writer{}
                     .bytes(from)
                     .bytes(all_routers)
                     .u32(static_cast<std::uint32_t>(body.size()))
                     .u32(58)
                     .bytes(body)
                     .take();
  put16(body, 2, internet_checksum(covered));
  const auto packet = byte_writer{}
                          .u32(0x60000000)
                          .u16(static_cast<unsigned>(body.size()))
                          .u16(58 << 8 | 255) // ICMPv6, never forwarded
                          .bytes(from)
                          .bytes(all_routers)
                          .bytes(body)
                          .take();
  return ethernet(mac_address::from_integer(0x3333'0000'0002), source, type_ipv6, packet);
}

std::uint16_t internet_checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum += std::to_integer<std::uint64_t>(bytes[i]) << 8;
    if (i + 1 < bytes.size())
      sum += std::to_integer<std::uint64_t>(bytes[i + 1]);
  }
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

} // namespace vmswitch::test
