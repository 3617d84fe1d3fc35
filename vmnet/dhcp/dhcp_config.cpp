#include "vmnet/dhcp/dhcp_config.hpp"

#include <algorithm>
#include <array>

#include "vmnet/user_addresses.hpp"

namespace vmswitch {

namespace {

struct served_elsewhere {
  std::int64_t code;
  const char* by;
};

// What has a key of its own.
constexpr std::array<served_elsewhere, 6> with_own_key{{{6, "dns"},
                                                        {12, "name of a [[network.reservation]]"},
                                                        {15, "domain"},
                                                        {26, "mtu of the network"},
                                                        {51, "lease_time"},
                                                        {119, "search"}}};
// What belongs to the protocol, or to what the server knows: mask, broadcast address, requested
// address, overload, message type, server, parameter list, message, size, times, client identifier,
// relay information.
constexpr std::array<std::int64_t, 14> of_the_server{1,  28, 50, 52, 53, 54, 55,
                                                     56, 57, 58, 59, 61, 80, 82};

bool is_label_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

std::vector<ipv4_address> own_addresses(const host_config& host) {
  return {host.gateway, nameserver_for(host)};
}

} // namespace

dhcp_range default_dhcp_range(const host_config& host) {
  auto taken = own_addresses(host);
  std::ranges::sort(taken);
  taken.push_back(host.subnet.broadcast());
  dhcp_range widest{host.subnet.at(1), host.subnet.at(0)};
  auto first = host.subnet.at(1);
  for (const auto end : taken) {
    const dhcp_range row{first, {end.value - 1}};
    if (end > first && (widest.last < widest.first || row.size() > widest.size()))
      widest = row;
    first = {end.value + 1};
  }
  return widest;
}

std::vector<ipv4_address> default_dhcp_dns(const host_config& host) {
  if (!owns_subnet(host.mode))
    return {};
  if (!host.dns_domain.empty())
    return {host.gateway};
  if (host.mode != host_mode::user)
    return {}; // nobody answers there
  return {nameserver_for(host)};
}

dhcp_settings resolve_dhcp(const host_config& host, const dhcp_config& dhcp) {
  return {
      .subnet = host.subnet,
      .gateway = host.gateway,
      .excluded = own_addresses(host),
      .range = dhcp.range.value_or(default_dhcp_range(host)),
      .lease_time = dhcp.lease_time,
      .mtu = host.mtu,
      .dns = dhcp.dns.value_or(default_dhcp_dns(host)),
      .domain = dhcp.domain.empty() ? host.dns_domain : dhcp.domain,
      .search = dhcp.search,
      .options = dhcp.options,
      .reservations = dhcp.reservations,
  };
}

bool serves_dhcp(const host_config& host, const dhcp_config& dhcp) {
  return dhcp.enabled && owns_subnet(host.mode);
}

result<void> check_dhcp_range(const host_config& host, const dhcp_range& range) {
  const auto right = default_dhcp_range(host);
  const auto would_be = [&] {
    return ": write [\"" + to_string(right.first) + "\", \"" + to_string(right.last) + "\"]";
  };
  for (const auto address : {range.first, range.last})
    if (!host.subnet.is_host(address))
      return fail(to_string(address) + " is not an address for a host in " +
                  to_string(host.subnet) + would_be());
  if (range.last < range.first)
    return fail("the range ends at " + to_string(range.last) + ", before its begin " +
                to_string(range.first) + would_be());
  const auto own = own_addresses(host);
  for (auto address = range.first; address <= range.last; ++address.value)
    if (std::ranges::find(own, address) == own.end())
      return {};
  return fail("the range holds nothing but the gateway and the name server" + would_be());
}

result<void> check_reserved_address(const host_config& host, ipv4_address address) {
  if (!host.subnet.is_host(address))
    return fail(to_string(address) + " is not an address for a host in " + to_string(host.subnet));
  if (address == host.gateway)
    return fail(to_string(address) + " is the gateway: choose another address");
  if (address == nameserver_for(host))
    return fail(to_string(address) + " is the name server: choose another address");
  return {};
}

result<void> check_dhcp_option_code(std::int64_t code) {
  for (const auto& one : with_own_key)
    if (one.code == code)
      return fail("option " + std::to_string(code) + " is set by another key: " + one.by);
  if (std::ranges::find(of_the_server, code) != of_the_server.end())
    return fail("option " + std::to_string(code) + " is set by the server itself");
  if (code < 1 || code > 254)
    return fail(std::to_string(code) + " is no option: write 1 to 254");
  return {};
}

result<void> check_host_name(std::string_view name) {
  if (name.empty() || name.size() > 63 || !std::ranges::all_of(name, is_label_character) ||
      name.front() == '-' || name.back() == '-')
    return fail("\"" + std::string{name} +
                "\" is not a host name: use 1 to 63 letters, digits or '-', the first and the "
                "last no '-'");
  return {};
}

result<void> check_domain_name(std::string_view name) {
  auto rest = name;
  bool right = !name.empty() && name.size() <= 253;
  while (right) {
    const auto dot = rest.find('.');
    right = check_host_name(rest.substr(0, dot)).has_value();
    if (dot == std::string_view::npos)
      break;
    rest.remove_prefix(dot + 1);
  }
  if (!right)
    return fail("\"" + std::string{name} +
                "\" is not a domain name: write one such as \"vm.internal\"");
  return {};
}

result<void> check_dhcp_config(const host_config& host, const dhcp_config& dhcp) {
  if (!serves_dhcp(host, dhcp))
    return {};
  if (dhcp.range)
    if (auto right = check_dhcp_range(host, *dhcp.range); !right)
      return right;
  for (const auto& reservation : dhcp.reservations)
    if (reservation.address)
      if (auto right = check_reserved_address(host, *reservation.address); !right)
        return fail("reservation for " + to_string(reservation.mac) + ": " + right.error().text);
  return {};
}

} // namespace vmswitch
