#include "vmnet/dhcp/dhcp_request.hpp"

#include <algorithm>
#include <map>

#include <tins/bootp.h> // the fields of a BOOTP message; options it reads without these checks
#include <tins/exceptions.h>

#include "vmnet/dhcp/dhcp_config.hpp"

namespace vmswitch {

namespace {

using bytes = std::span<const std::uint8_t>;
using option_values = std::map<std::uint8_t, std::string>;

constexpr std::size_t fixed_size = 236; // RFC 2131, figure 1
constexpr std::size_t server_name_size = 64, file_size = 128;
constexpr std::uint8_t magic_cookie[] = {99, 130, 83, 99};
constexpr std::uint8_t pad = 0, end = 255, host_name = 12, requested_address = 50, overload = 52,
                       message_type = 53, server_identifier = 54, parameter_list = 55,
                       largest_message = 57, client_identifier = 61, full_name = 81;
constexpr std::size_t smallest_limit = 576;

// Adds the options of one field to `found`, those split joined. False if one reaches past the end.
bool read_options(bytes area, option_values& found) {
  while (!area.empty() && area[0] != end) {
    if (area[0] == pad) {
      area = area.subspan(1);
      continue;
    }
    if (area.size() < 2 || area.size() - 2 < area[1])
      return false;
    const auto value = area.subspan(2, area[1]);
    found[area[0]].append(value.begin(), value.end());
    area = area.subspan(2 + value.size());
  }
  return true;
}

std::uint32_t number(const std::string& value) {
  std::uint32_t result = 0;
  for (const char octet : value)
    result = result << 8 | static_cast<std::uint8_t>(octet);
  return result;
}

// False if the option is there with another length.
bool read_address(const option_values& options, std::uint8_t code,
                  std::optional<ipv4_address>& address) {
  const auto found = options.find(code);
  if (found == options.end())
    return true;
  address = ipv4_address{number(found->second)};
  return found->second.size() == 4;
}

std::string value_of(const option_values& options, std::uint8_t code) {
  const auto found = options.find(code);
  return found == options.end() ? std::string{} : found->second;
}

// The first label, since some clients send a domain behind it; clients also end it with a NUL.
std::string host_name_in(const std::string& value) {
  auto name = value.substr(0, value.find_first_of(std::string_view{".\0", 2}));
  return check_host_name(name) ? name : std::string{};
}

// Flags, two unused octets, and the name, as text or in DNS's wire form (RFC 4702, 2).
std::string full_name_in(const std::string& value) {
  constexpr std::size_t name_at = 3;
  constexpr unsigned in_wire_form = 4;
  if (value.size() <= name_at)
    return {};
  if ((static_cast<unsigned char>(value[0]) & in_wire_form) == 0)
    return host_name_in(value.substr(name_at));
  const std::size_t size = static_cast<unsigned char>(value[name_at]);
  return host_name_in(value.substr(name_at + 1, size));
}

bool read_options(bytes payload, const Tins::BootP& message, dhcp_request& into) {
  option_values options;
  if (!read_options(payload.subspan(fixed_size + sizeof magic_cookie), options))
    return false;
  const auto fields = value_of(options, overload);
  if (!fields.empty()) {
    if (fields.size() != 1 || fields[0] < 1 || fields[0] > 3)
      return false;
    if ((fields[0] & 1) != 0 && !read_options({message.file(), file_size}, options))
      return false;
    if ((fields[0] & 2) != 0 && !read_options({message.sname(), server_name_size}, options))
      return false;
  }
  const auto type = value_of(options, message_type);
  if (type.size() != 1 || !read_address(options, requested_address, into.requested) ||
      !read_address(options, server_identifier, into.server))
    return false;
  into.kind = static_cast<dhcp_kind>(type[0]);
  if (const auto limit = value_of(options, largest_message); limit.size() == 2)
    into.largest_reply = std::max<std::size_t>(smallest_limit, number(limit));
  const auto list = value_of(options, parameter_list).substr(0, 255);
  into.wanted.assign(list.begin(), list.end());
  into.client_id = value_of(options, client_identifier);
  into.host_name = host_name_in(value_of(options, host_name));
  if (into.host_name.empty())
    into.host_name = full_name_in(value_of(options, full_name));
  return true;
}

bool is_from_client(dhcp_kind kind) {
  switch (kind) {
  case dhcp_kind::discover:
  case dhcp_kind::request:
  case dhcp_kind::decline:
  case dhcp_kind::release:
  case dhcp_kind::inform:
    return true;
  default:
    return false;
  }
}

std::optional<dhcp_request> parse(bytes payload) {
  const Tins::BootP message{payload.data(), static_cast<std::uint32_t>(payload.size()),
                            static_cast<std::uint32_t>(payload.size() - fixed_size)};
  constexpr std::uint8_t ethernet = 1, ethernet_size = 6;
  if (message.opcode() != Tins::BootP::BOOTREQUEST || message.htype() != ethernet ||
      message.hlen() != ethernet_size || message.giaddr() != Tins::IPv4Address{})
    return std::nullopt;
  dhcp_request request;
  const auto hardware = message.chaddr();
  request.client = mac_address::read(reinterpret_cast<const std::byte*>(&*hardware.begin()));
  request.transaction = message.xid();
  request.wants_broadcast = (message.padding() & 0x8000) != 0; // the flags, which are no padding
  request.client_address = {__builtin_bswap32(std::uint32_t{message.ciaddr()})};
  if (request.client.is_group() || request.client == mac_address{} ||
      !read_options(payload, message, request) || !is_from_client(request.kind))
    return std::nullopt;
  return request;
}

} // namespace

std::optional<dhcp_request> parse_dhcp_request(std::span<const std::byte> payload) {
  if (payload.size() < fixed_size + sizeof magic_cookie || payload.size() > largest_dhcp_request)
    return std::nullopt;
  const bytes octets{reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()};
  if (!std::ranges::equal(octets.subspan(fixed_size, sizeof magic_cookie), magic_cookie))
    return std::nullopt;
  try {
    return parse(octets);
  } catch (const Tins::exception_base&) { // no further than this
    return std::nullopt;
  }
}

} // namespace vmswitch
