#include "vmnet/dns/dns_addresses.hpp"

#include "vmnet/tap/device_plan.hpp"
#include "vmnet/user_addresses.hpp"

namespace vmswitch {

namespace {

ipv6_address link_local_prefix() {
  ipv6_address made;
  made.octets[0] = 0xfe;
  made.octets[1] = 0x80;
  return made;
}

} // namespace

std::optional<ipv6_address> network_gateway6(const host_config& host) {
  if (host.mode != host_mode::user)
    return uses_tap(host.mode) ? gateway6_for(host) : std::nullopt;
  if (!has_ipv6(host))
    return std::nullopt;
  return ipv6_host(user_prefix_for(host), ipv6_gateway_number);
}

std::vector<packet_address> dns_server_addresses(const host_config& host) {
  std::vector<packet_address> all{packet_address{host.gateway}};
  if (const auto gateway6 = network_gateway6(host))
    all.emplace_back(*gateway6);
  if (host.mode != host_mode::user)
    return all;
  all.emplace_back(nameserver_for(host));
  if (has_ipv6(host)) {
    all.emplace_back(ipv6_host(user_prefix_for(host), ipv6_nameserver_number));
    all.emplace_back(ipv6_host(link_local_prefix(), ipv6_gateway_number));
    all.emplace_back(ipv6_host(link_local_prefix(), ipv6_nameserver_number));
  }
  return all;
}

std::vector<mac_address> dns_server_macs(const host_config& host) {
  if (host.mode != host_mode::user)
    return {};
  std::vector<mac_address> all{user_mac_for(nameserver_for(host))};
  if (has_ipv6(host))
    for (const auto number : {ipv6_gateway_number, ipv6_nameserver_number})
      all.push_back(mac_address::from_integer(0x5256'0000'0000ULL | number));
  return all;
}

} // namespace vmswitch
