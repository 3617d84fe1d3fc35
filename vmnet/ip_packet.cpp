#include "vmnet/ip_packet.hpp"

#include <algorithm>

#include "transport/frame/ethernet.hpp"

namespace vmswitch {

namespace {

using bytes = std::span<const std::byte>;

constexpr std::uint16_t type_of_ipv4 = 0x0800, type_of_ipv6 = 0x86dd;
constexpr std::size_t udp_header = 8, tcp_header = 20;
constexpr std::uint8_t hops = 64;

std::uint8_t u8(bytes from, std::size_t at) {
  return std::to_integer<std::uint8_t>(from[at]);
}
std::uint16_t u16(bytes from, std::size_t at) {
  return static_cast<std::uint16_t>(u8(from, at) << 8 | u8(from, at + 1));
}
void put16(std::span<std::byte> to, std::size_t at, std::size_t value) {
  to[at] = static_cast<std::byte>(value >> 8);
  to[at + 1] = static_cast<std::byte>(value);
}

std::uint64_t sum_of(bytes from) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 1 < from.size(); i += 2)
    sum += u16(from, i);
  if (from.size() % 2 != 0)
    sum += static_cast<std::uint64_t>(u8(from, from.size() - 1)) << 8;
  return sum;
}

// RFC 1071.
std::uint16_t folded(std::uint64_t sum) {
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::uint64_t sum_of(const packet_address& address) {
  const auto all = std::as_bytes(std::span{address.octets});
  return sum_of(all.first(address.is_ipv6 ? 16 : 4));
}

// With the pseudo-header of either family (RFC 9293, 3.1; RFC 8200, 8.1).
std::uint16_t checksum_of(const ip_path& path, std::uint8_t protocol, bytes segment) {
  return folded(sum_of(path.peer) + sum_of(path.own) + protocol + segment.size() + sum_of(segment));
}

packet_address read_address(bytes packet, std::size_t at, bool is_ipv6) {
  packet_address address;
  address.is_ipv6 = is_ipv6;
  for (std::size_t i = 0; i < (is_ipv6 ? 16U : 4U); ++i)
    address.octets[i] = u8(packet, at + i);
  return address;
}

bool can_be_answered(const packet_address& address) {
  const auto first = address.octets[0];
  const bool is_group = address.is_ipv6 ? first == 0xff : first >= 224;
  return !is_group && address.octets != std::array<std::uint8_t, 16>{};
}

// What the IP header says, and what it carries.
struct carried {
  packet_address from, to;
  std::uint8_t protocol = 0;
  bytes segment;
};

std::optional<carried> read_ipv4(bytes packet) {
  if (packet.size() < 20 || u8(packet, 0) >> 4 != 4)
    return std::nullopt;
  const std::size_t header = std::size_t{u8(packet, 0)} % 16 * 4, length = u16(packet, 2);
  constexpr std::uint16_t fragment_bits = 0xbfff; // and the reserved one (RFC 791, 3.1)
  if (header < 20 || length < header || length > packet.size() ||
      (u16(packet, 6) & fragment_bits) != 0 || folded(sum_of(packet.first(header))) != 0)
    return std::nullopt;
  return carried{read_address(packet, 12, false), read_address(packet, 16, false), u8(packet, 9),
                 packet.subspan(header, length - header)};
}

std::optional<carried> read_ipv6(bytes packet) {
  if (packet.size() < 40 || u8(packet, 0) >> 4 != 6)
    return std::nullopt;
  const std::size_t length = u16(packet, 4);
  if (length > packet.size() - 40)
    return std::nullopt;
  return carried{read_address(packet, 8, true), read_address(packet, 24, true), u8(packet, 6),
                 packet.subspan(40, length)};
}

std::vector<std::byte> make_frame(const ip_path& path, std::uint8_t protocol, std::size_t size) {
  const bool is_ipv6 = path.own.is_ipv6;
  const auto header = ip_header_size(is_ipv6);
  std::vector<std::byte> frame(ethernet_header_size + header + size);
  path.peer_mac.write(frame.data());
  path.own_mac.write(frame.data() + 6);
  put16(frame, 12, is_ipv6 ? type_of_ipv6 : type_of_ipv4);
  const auto packet = std::span{frame}.subspan(ethernet_header_size);
  const auto octets = is_ipv6 ? 16 : 4;
  const auto put = [&](std::size_t at, const packet_address& address) {
    std::copy_n(std::as_bytes(std::span{address.octets}).begin(), octets,
                packet.begin() + static_cast<std::ptrdiff_t>(at));
  };
  if (is_ipv6) {
    packet[0] = std::byte{0x60};
    put16(packet, 4, size);
    packet[6] = std::byte{protocol};
    packet[7] = std::byte{hops};
    put(8, path.own);
    put(24, path.peer);
    return frame;
  }
  packet[0] = std::byte{0x45};
  put16(packet, 2, header + size);
  put16(packet, 6, 0x4000); // do not fragment
  packet[8] = std::byte{hops};
  packet[9] = std::byte{protocol};
  put(12, path.own);
  put(16, path.peer);
  put16(packet, 10, folded(sum_of(packet.first(header))));
  return frame;
}

} // namespace

std::uint16_t ipv4_header_checksum(bytes header) noexcept {
  return folded(sum_of(header));
}

packet_address::packet_address(ipv4_address address) noexcept {
  for (std::size_t i = 0; i < 4; ++i)
    octets[i] = static_cast<std::uint8_t>(address.value >> (24 - 8 * i));
}

std::optional<ip_packet> parse_ip_packet(bytes frame) {
  const auto ethernet = ethernet_view::parse(frame);
  if (!ethernet || ethernet->source().is_group())
    return std::nullopt;
  const auto type = ethernet->type();
  const auto found = type == type_of_ipv4   ? read_ipv4(ethernet->payload())
                     : type == type_of_ipv6 ? read_ipv6(ethernet->payload())
                                            : std::nullopt;
  if (!found || !can_be_answered(found->from))
    return std::nullopt;
  auto segment = found->segment;
  const bool is_udp = found->protocol == protocol_of_udp;
  if ((!is_udp && found->protocol != protocol_of_tcp) ||
      segment.size() < (is_udp ? udp_header : tcp_header))
    return std::nullopt;
  ip_packet packet;
  packet.protocol = found->protocol;
  packet.path = {ethernet->source(), ethernet->destination(), found->from,
                 found->to,          u16(segment, 0),         u16(segment, 2)};
  if (packet.path.peer_port == 0)
    return std::nullopt;
  if (is_udp) {
    const std::size_t length = u16(segment, 4);
    if (length < udp_header || length > segment.size())
      return std::nullopt;
    segment = segment.first(length);
    // Over IPv4 it may be left out (RFC 768).
    if (u16(segment, 6) == 0 ? found->from.is_ipv6
                             : checksum_of(packet.path, protocol_of_udp, segment) != 0)
      return std::nullopt;
    packet.content = segment.subspan(udp_header);
    return packet;
  }
  if (checksum_of(packet.path, protocol_of_tcp, segment) != 0)
    return std::nullopt;
  packet.content = segment;
  return packet;
}

std::vector<std::byte> make_udp_frame(const ip_path& path, bytes payload) {
  const auto size = udp_header + payload.size();
  auto frame = make_frame(path, protocol_of_udp, size);
  const auto segment = std::span{frame}.last(size);
  put16(segment, 0, path.own_port);
  put16(segment, 2, path.peer_port);
  put16(segment, 4, size);
  std::ranges::copy(payload, segment.begin() + udp_header);
  const auto checksum = checksum_of(path, protocol_of_udp, segment);
  put16(segment, 6, checksum == 0 ? 0xffff : checksum);
  return frame;
}

std::vector<std::byte> make_tcp_frame(const ip_path& path, bytes content) {
  auto frame = make_frame(path, protocol_of_tcp, content.size());
  const auto segment = std::span{frame}.last(content.size());
  std::ranges::copy(content, segment.begin());
  put16(segment, 0, path.own_port);
  put16(segment, 2, path.peer_port);
  put16(segment, 16, 0);
  put16(segment, 16, checksum_of(path, protocol_of_tcp, segment));
  return frame;
}

} // namespace vmswitch
