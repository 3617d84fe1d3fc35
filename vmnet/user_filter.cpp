#include "vmnet/user_filter.hpp"

#include <algorithm>

#include "transport/frame/ethernet.hpp"
#include "vmnet/user_addresses.hpp"

namespace vmswitch {

namespace {

using verdict = user_filter::verdict;
using socket_kind = user_filter::socket_kind;
using judgement = user_filter::judgement;
using bytes = std::span<const std::byte>;

constexpr judgement pass{verdict::pass};
constexpr judgement ignore{verdict::ignore};
constexpr judgement refuse{verdict::refuse};
constexpr judgement fragment{verdict::fragment};

constexpr std::uint8_t protocol_icmp = 1, protocol_tcp = 6, protocol_udp = 17, protocol_icmp6 = 58;
constexpr std::uint8_t icmp_echo_request = 8, icmp6_echo_request = 128;
constexpr std::uint8_t router_solicitation = 133, neighbour_solicitation = 135,
                       neighbour_advertisement = 136;
constexpr std::uint16_t port_dhcp = 67, port_tftp = 69, port_dhcp6 = 547;
constexpr std::uint8_t ipv6_fragment = 44;

std::uint8_t u8(bytes from, std::size_t at) {
  return std::to_integer<std::uint8_t>(from[at]);
}
std::uint16_t u16(bytes from, std::size_t at) {
  return static_cast<std::uint16_t>(u8(from, at) << 8 | u8(from, at + 1));
}
std::uint32_t u32(bytes from, std::size_t at) {
  return std::uint32_t{u16(from, at)} << 16 | u16(from, at + 2);
}
std::uint64_t u64(bytes from, std::size_t at) {
  return std::uint64_t{u32(from, at)} << 32 | u32(from, at + 4);
}

/// libslirp opens a connection for a bare SYN only (tcp_input.c).
judgement judge_tcp(bytes segment) {
  constexpr std::uint8_t fin = 1, syn = 2, rst = 4, ack = 16, urg = 32;
  if (segment.size() < 20)
    return refuse;
  const auto flags = u8(segment, 13);
  if ((flags & urg) != 0)
    return refuse;
  const bool connects = (flags & (fin | syn | rst | ack)) == syn;
  return {verdict::pass, connects ? socket_kind::tcp : socket_kind::none};
}

/// libslirp keeps one socket per sender's address and port (udp.c), whatever the destination.
std::uint64_t flow_of(std::uint64_t address, std::uint16_t port) {
  const std::uint64_t mixed = address * 0x9e37'79b9'7f4a'7c15ULL;
  return (mixed ^ mixed >> 29 ^ port) | 1ULL << 63;
}

} // namespace

user_filter::user_filter(const host_config& config)
    : config_{config}, nameserver_{nameserver_for(config)}, ipv6_{has_ipv6(config)},
      mac_addresses_{user_mac_for(config.gateway).integer(), user_mac_for(nameserver_).integer(),
                     0x5256'0000'0000ULL | ipv6_gateway_number,
                     0x5256'0000'0000ULL | ipv6_nameserver_number} {
  for (std::size_t i = 0; i < 8; ++i)
    network_ = network_ << 8 | user_prefix_for(config).octets[i];
}

judgement user_filter::judge(bytes frame) const {
  return judge_frame(frame, config_.mtu);
}

judgement user_filter::judge_whole(bytes frame) const {
  return judge_frame(frame, frame.size());
}

judgement user_filter::judge_frame(bytes frame, std::size_t mtu) const {
  const auto ethernet = ethernet_view::parse(frame);
  if (!ethernet)
    return refuse;
  const auto destination = ethernet->destination();
  const bool to_group = destination.is_group();
  if (!to_group && std::ranges::find(mac_addresses_, destination.integer()) == mac_addresses_.end())
    return ignore;
  const auto packet = ethernet->payload();
  if (packet.size() > mtu)
    return refuse;
  switch (ethernet->type()) {
  case 0x0806:
    return judge_arp(packet);
  case 0x0800:
    return judge_ipv4(packet, to_group);
  case 0x86dd:
    return ipv6_ ? judge_ipv6(packet) : ignore;
  default:
    return ignore;
  }
}

judgement user_filter::judge_arp(bytes packet) const {
  // Nobody else may claim our addresses.
  return packet.size() < 28 || is_ours({u32(packet, 14)}) ? refuse : pass;
}

judgement user_filter::judge_ipv4(bytes packet, bool to_group) const {
  constexpr std::uint8_t version_4_no_options = 0x45;
  if (packet.size() < 20 || u8(packet, 0) != version_4_no_options)
    return refuse;
  const std::size_t length = u16(packet, 2);
  if (length < 20 || length > packet.size())
    return refuse;
  constexpr std::uint16_t reserved = 0x8000, more_or_offset = 0x3fff;
  const auto fragmentation = u16(packet, 6);
  if ((fragmentation & reserved) != 0)
    return refuse;
  const auto protocol = u8(packet, 9);
  const ipv4_address source{u32(packet, 12)};
  const ipv4_address destination{u32(packet, 16)};

  if (to_group || destination.value >> 28 == 0xe || destination.value == 0xffff'ffff ||
      destination == config_.subnet.broadcast())
    return ignore;
  if (!config_.subnet.is_host(source) || is_ours(source))
    return refuse;
  if (!is_ours(destination)) {
    const auto first_octet = destination.value >> 24;
    if (first_octet == 0 || first_octet == 127 || first_octet >= 240 ||
        (destination.value & config_.subnet.mask().value) == config_.subnet.network.value)
      return refuse;
  }
  if (protocol != protocol_tcp && protocol != protocol_udp && protocol != protocol_icmp)
    return ignore;
  if ((fragmentation & more_or_offset) != 0)
    return protocol == protocol_tcp ? refuse : fragment;

  const auto payload = packet.subspan(20, length - 20);
  if (payload.size() < 8)
    return refuse;
  if (protocol == protocol_tcp)
    return judge_tcp(payload);
  if (protocol == protocol_icmp)
    return {verdict::pass, u8(payload, 0) == icmp_echo_request && !is_ours(destination)
                               ? socket_kind::icmp
                               : socket_kind::none};
  const auto port = u16(payload, 2);
  if (is_ours(destination) && (port == port_tftp || port == port_dhcp))
    return refuse; // what serves DHCP stands in front of us
  return {verdict::pass, socket_kind::udp, flow_of(source.value, u16(payload, 0))};
}

judgement user_filter::judge_ipv6(bytes packet) const {
  constexpr std::uint64_t link_local = 0xfe80ULL << 48;
  if (packet.size() < 40 || u8(packet, 0) >> 4 != 6)
    return refuse;
  const std::size_t length = u16(packet, 4);
  if (length + 40 > packet.size())
    return refuse;
  const auto next = u8(packet, 6);
  const auto source = u64(packet, 8), source_number = u64(packet, 16);
  const auto destination = u64(packet, 24), number = u64(packet, 32);
  const auto payload = packet.subspan(40, length);
  const auto type = next == protocol_icmp6 && !payload.empty() ? u8(payload, 0) : std::uint8_t{0};

  const bool is_unspecified = source == 0 && source_number == 0;
  if (source != network_ && source != link_local && !is_unspecified)
    return refuse;
  if (destination >> 56 == 0xff)
    return type == router_solicitation || type == neighbour_solicitation ||
                   type == neighbour_advertisement
               ? pass
               : ignore;
  const bool is_inside = destination == network_ || destination >> 54 == link_local >> 54;
  const bool to_us =
      is_inside && (number == ipv6_gateway_number || number == ipv6_nameserver_number);
  // The prefix of zeros holds ::, ::1 and the IPv4-mapped addresses.
  if (is_unspecified || destination == 0 || (is_inside && !to_us))
    return refuse;

  switch (next) {
  case protocol_icmp6:
    if (!to_us)
      return type == icmp6_echo_request ? refuse : ignore;
    return type == icmp6_echo_request || type == router_solicitation ||
                   type == neighbour_solicitation || type == neighbour_advertisement
               ? pass
               : ignore;
  case protocol_tcp:
    return judge_tcp(payload);
  case protocol_udp: {
    if (payload.size() < 8)
      return refuse;
    const auto port = u16(payload, 2);
    if (to_us && (port == port_tftp || port == port_dhcp6))
      return refuse;
    return {verdict::pass, socket_kind::udp, flow_of(source ^ source_number * 3, u16(payload, 0))};
  }
  case ipv6_fragment:
    return refuse; // libslirp would drop it
  default:
    return ignore;
  }
}

} // namespace vmswitch
