#include "tests/support/dhcp.hpp"

#include <algorithm>
#include <bitset>
#include <iterator>

namespace vmswitch::test {

namespace {

constexpr std::uint32_t magic_cookie = 0x63825363;
constexpr std::uint16_t client_port = 68;
constexpr std::uint16_t server_port = 67;

bool from_client(dhcp_message::kind_type kind) {
  return kind != dhcp_message::offer && kind != dhcp_message::ack && kind != dhcp_message::nak;
}

void put_address(byte_writer& out, unsigned code, const std::optional<ipv4_address>& address) {
  if (address)
    out.u8(code).u8(4).ip(*address);
}

void put_addresses(byte_writer& out, unsigned code, const std::vector<ipv4_address>& list) {
  if (list.empty())
    return;
  out.u8(code).u8(static_cast<unsigned>(list.size() * 4));
  for (const auto address : list)
    out.ip(address);
}

void put_bytes(byte_writer& out, unsigned code, std::span<const std::byte> value) {
  if (!value.empty())
    out.u8(code).u8(static_cast<unsigned>(value.size())).bytes(value);
}

std::vector<ipv4_address> addresses(byte_reader value) {
  std::vector<ipv4_address> list;
  while (value.ok() && !value.rest().empty())
    list.push_back(value.ip());
  return list;
}

// What the message has a member for. Others may be split over several options (RFC 3396).
bool is_named(unsigned code) {
  constexpr unsigned named[] = {1, 3, 6, 12, 26, 50, 51, 53, 54, 61};
  return std::ranges::find(named, code) != std::end(named);
}

// False if the option's length is not one that it may have.
bool read_option(unsigned code, std::span<const std::byte> bytes, dhcp_message& message) {
  byte_reader value{bytes};
  const bool is_address = bytes.size() == 4;
  const bool is_list = !bytes.empty() && bytes.size() % 4 == 0;
  switch (code) {
  case 1:
    message.mask = value.ip();
    return is_address;
  case 3:
    message.routers = addresses(value);
    return is_list;
  case 6:
    message.dns = addresses(value);
    return is_list;
  case 12:
    for (const auto octet : bytes)
      message.host_name += static_cast<char>(octet);
    return !bytes.empty();
  case 26:
    message.mtu = value.u16();
    return bytes.size() == 2;
  case 50:
    message.requested = value.ip();
    return is_address;
  case 51:
    message.lease = std::chrono::seconds{value.u32()};
    return bytes.size() == 4;
  case 53: {
    const auto kind = value.u8();
    message.kind = static_cast<dhcp_message::kind_type>(kind);
    return bytes.size() == 1 && kind >= dhcp_message::discover && kind <= dhcp_message::inform;
  }
  case 54:
    message.server = value.ip();
    return is_address;
  case 61:
    message.client_id.assign(bytes.begin(), bytes.end());
    return bytes.size() >= 2;
  default:
    return true;
  }
}

bool read_options(byte_reader in, dhcp_message& message) {
  std::bitset<256> seen;
  for (;;) {
    const unsigned code = in.u8();
    if (code == 255)
      return seen[53];
    if (code == 0) { // padding, or the end of the bytes
      if (!in.ok())
        return false;
      continue;
    }
    const auto value = in.bytes(in.u8());
    if (!in.ok() || (seen[code] && is_named(code)) || !read_option(code, value, message))
      return false;
    seen.set(code);
  }
}

std::optional<dhcp_message> parse_dhcp_to(std::uint16_t port, std::span<const std::byte> bare) {
  const auto packet = parse_ipv4(bare);
  if (!packet)
    return std::nullopt;
  const auto datagram = parse_udp(*packet);
  if (!datagram || datagram->destination_port != port)
    return std::nullopt;
  const auto message = parse_dhcp(datagram->payload);
  if (!message || from_client(message->kind) != (port == server_port))
    return std::nullopt;
  return message;
}

} // namespace

std::vector<std::byte> encode_dhcp(const dhcp_message& message) {
  byte_writer out;
  out.u8(from_client(message.kind) ? 1 : 2)
      .u8(1) // Ethernet
      .u8(6)
      .u8(0)
      .u32(message.transaction)
      .u16(0)
      .u16(message.wants_broadcast ? 0x8000 : 0)
      .ip(message.client_address)
      .ip(message.your_address)
      .u32(0)
      .u32(0)
      .mac(message.client)
      .zeros(10 + 64 + 128) // rest of the hardware address, server name, file
      .u32(magic_cookie)
      .u8(53)
      .u8(1)
      .u8(message.kind);
  put_address(out, 50, message.requested);
  put_address(out, 54, message.server);
  put_address(out, 1, message.mask);
  put_addresses(out, 3, message.routers);
  put_addresses(out, 6, message.dns);
  put_bytes(out, 12, std::as_bytes(std::span{message.host_name}));
  if (message.mtu)
    out.u8(26).u8(2).u16(*message.mtu);
  if (message.lease)
    out.u8(51).u8(4).u32(static_cast<std::uint32_t>(message.lease->count()));
  put_bytes(out, 61, message.client_id);
  if (message.kind == dhcp_message::discover || message.kind == dhcp_message::request)
    out.u8(55).u8(4).u8(1).u8(3).u8(6).u8(26); // what it asks for: mask, router, DNS, MTU
  out.u8(255);
  auto bytes = out.take();
  if (bytes.size() < 300) // the size of a BOOTP message (RFC 951), which some servers insist on
    bytes.resize(300);
  return bytes;
}

std::optional<dhcp_message> parse_dhcp(std::span<const std::byte> payload) {
  byte_reader in{payload};
  dhcp_message message;
  const auto operation = in.u8();
  const auto hardware = in.u16();
  in.skip(1);
  message.transaction = in.u32();
  in.skip(2);
  message.wants_broadcast = (in.u16() & 0x8000) != 0;
  message.client_address = in.ip();
  message.your_address = in.ip();
  in.skip(8);
  message.client = in.mac();
  in.skip(10 + 64 + 128);
  if (in.u32() != magic_cookie || hardware != 0x0106 || !read_options(in, message) ||
      operation != (from_client(message.kind) ? 1 : 2))
    return std::nullopt;
  return message;
}

frame dhcp_from_client(const dhcp_message& message) {
  return udp({message.client, broadcast_mac, {}, {0xffffffff}}, client_port, server_port,
             encode_dhcp(message));
}

frame dhcp_from_server(const dhcp_message& message, mac_address server_mac, ipv4_address server) {
  return udp({server_mac, broadcast_mac, server, {0xffffffff}}, server_port, client_port,
             encode_dhcp(message));
}

std::optional<dhcp_message> parse_dhcp_reply(std::span<const std::byte> bare) {
  return parse_dhcp_to(client_port, bare);
}

std::optional<dhcp_message> parse_dhcp_request(std::span<const std::byte> bare) {
  return parse_dhcp_to(server_port, bare);
}

} // namespace vmswitch::test
