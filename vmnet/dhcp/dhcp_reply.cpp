#include "vmnet/dhcp/dhcp_reply.hpp"

#include <algorithm>
#include <string_view>

#include <tins/arp.h> // libtins: packets with their lengths and checksums
#include <tins/dhcp.h>
#include <tins/ethernetII.h>
#include <tins/ip.h>
#include <tins/rawpdu.h>
#include <tins/udp.h>

namespace vmswitch {

namespace {

constexpr std::size_t headers = 20 + 8;         // IP and UDP
constexpr std::size_t before_options = 236 + 4; // RFC 2131, figure 1, and the magic cookie
constexpr std::size_t smallest_message = 300;   // of BOOTP (RFC 951), which some clients insist on
constexpr std::uint16_t server_port = 67, client_port = 68;
constexpr std::uint8_t message_type = 53, server_identifier = 54, client_identifier = 61;
constexpr std::size_t longest_option = 255;

Tins::HWAddress<6> hardware(mac_address address) {
  std::uint8_t octets[6];
  address.write(reinterpret_cast<std::byte*>(octets));
  return Tins::HWAddress<6>{octets};
}

Tins::IPv4Address ip(ipv4_address address) {
  return Tins::IPv4Address{__builtin_bswap32(address.value)};
}

// Bytes of an option with code and length, split if need be.
std::size_t size_of(const dhcp_option& option) {
  const auto size = option.value.size();
  return size + 2 * std::max<std::size_t>(1, (size + longest_option - 1) / longest_option);
}

class option_writer {
public:
  option_writer(Tins::DHCP& message, std::size_t space) : message_{message}, space_{space} {}
  /// Leaves it out if it does not fit.
  void add(const dhcp_option& option) {
    if (size_of(option) > space_)
      return;
    space_ -= size_of(option);
    std::string_view rest{option.value};
    do {
      const auto part = rest.substr(0, longest_option);
      message_.add_option(Tins::DHCP::option{option.code, part.begin(), part.end()});
      rest.remove_prefix(part.size());
    } while (!rest.empty());
  }

private:
  Tins::DHCP& message_;
  std::size_t space_;
};

std::vector<std::byte> serialized(Tins::PDU& packet) {
  const auto octets = packet.serialize();
  std::vector<std::byte> frame(octets.size());
  std::ranges::transform(octets, frame.begin(), [](auto octet) { return std::byte{octet}; });
  return frame;
}

} // namespace

std::size_t dhcp_option_space(const dhcp_request& request, std::size_t mtu) {
  // Two for the end option and what libtins puts behind it.
  return std::min(request.largest_reply, mtu) - headers - before_options - 2;
}

std::vector<std::byte> make_dhcp_reply(const dhcp_identity& server, const dhcp_request& request,
                                       dhcp_kind kind, ipv4_address given,
                                       const std::vector<dhcp_option>& options, std::size_t mtu) {
  Tins::DHCP message;
  message.opcode(Tins::DHCP::BOOTREPLY);
  message.htype(1);
  message.hlen(6);
  message.xid(request.transaction);
  message.padding(request.wants_broadcast ? 0x8000 : 0);
  message.chaddr(hardware(request.client));
  if (kind != dhcp_kind::nak) {
    message.ciaddr(ip(kind == dhcp_kind::ack ? request.client_address : ipv4_address{}));
    message.yiaddr(ip(given));
  }
  option_writer out{message, dhcp_option_space(request, mtu)};
  out.add({message_type, std::string(1, static_cast<char>(kind))});
  out.add({server_identifier, octets_of(server.address)});
  // A long identifier must not push out what the client needs.
  if (!request.client_id.empty() && request.client_id.size() <= 64)
    out.add({client_identifier, request.client_id});
  for (const auto& option : options)
    out.add(option);
  message.end();

  const bool has_address = request.client_address != ipv4_address{};
  const bool broadcast = kind == dhcp_kind::nak || (!has_address && request.wants_broadcast);
  const auto to = broadcast     ? ipv4_address{0xffff'ffff}
                  : has_address ? request.client_address
                                : given;
  const auto size = message.size();
  auto packet =
      Tins::EthernetII{hardware(broadcast ? broadcast_mac : request.client), hardware(server.mac)} /
      Tins::IP{ip(to), ip(server.address)} / Tins::UDP{client_port, server_port} / message;
  if (size < smallest_message)
    packet /= Tins::RawPDU{std::string(smallest_message - size, '\0')};
  return serialized(packet);
}

std::vector<std::byte> make_arp_request(const dhcp_identity& sender, ipv4_address target) {
  auto packet = Tins::EthernetII{hardware(broadcast_mac), hardware(sender.mac)} /
                Tins::ARP{ip(target), ip(sender.address), {}, hardware(sender.mac)};
  return serialized(packet);
}

std::string encode_search_list(const std::vector<std::string>& domains, std::size_t space) {
  std::string value;
  for (const auto& domain : domains) {
    std::string encoded;
    for (std::string_view rest{domain}; !rest.empty();) {
      const auto label = rest.substr(0, rest.find('.'));
      encoded += static_cast<char>(label.size());
      encoded += label;
      rest.remove_prefix(std::min(rest.size(), label.size() + 1));
    }
    encoded += '\0';
    if (size_of({0, value + encoded}) > space)
      break;
    value += encoded;
  }
  return value;
}

std::string octets_of(std::uint32_t value) {
  std::string octets;
  for (int shift = 24; shift >= 0; shift -= 8)
    octets += static_cast<char>(value >> shift & 0xff);
  return octets;
}

std::string octets_of(ipv4_address address) {
  return octets_of(address.value);
}

std::string octets_of(const std::vector<ipv4_address>& addresses) {
  std::string octets;
  for (const auto address : addresses)
    octets += octets_of(address.value);
  return octets;
}

} // namespace vmswitch
