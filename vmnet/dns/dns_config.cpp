#include "vmnet/dns/dns_config.hpp"

#include <algorithm>

#include "vmnet/dhcp/dhcp_reply.hpp"
#include "vmnet/dns/dns_addresses.hpp"

namespace vmswitch {

bool serves_dns(const host_config& host, const dns_config& dns) {
  return dns.enabled && owns_subnet(host.mode);
}

dns_settings resolve_dns(const host_config& host, const dhcp_config& dhcp, const dns_config& dns) {
  dns_settings made{
      .domain = dns_name::parse(dns.domain).value_or(dns_name{}),
      .subnet = host.subnet,
      .gateway = host.gateway,
      .gateway6 = network_gateway6(host),
      .records = {},
      .reservations = {},
      .upstream = dns.upstream,
      .cache_size = dns.cache_size,
  };
  for (const auto& record : dns.records) {
    auto name = dns_record_name(record, dns.domain);
    auto data = dns_record_data(record);
    if (name && data)
      made.records.push_back({std::move(*name), std::move(*data)});
  }
  std::ranges::copy_if(dhcp.reservations, std::back_inserter(made.reservations),
                       [](const auto& one) { return !one.name.empty(); });
  return made;
}

result<void> check_dns_domain(std::string_view domain) {
  const auto name = dns_name::parse(domain);
  if (!name || domain.ends_with('.') || name->labels() < 2)
    return fail("\"" + std::string{domain} +
                "\" is not a domain for VMs: write one such as \"vm.internal\", of two labels or "
                "more, since all of it is answered here");
  return {};
}

dns_resource address_resource(ipv4_address address) {
  return {dns_type::a, octets_of(address), to_string(address)};
}

dns_resource address_resource(const ipv6_address& address) {
  return {dns_type::aaaa, std::string{address.octets.begin(), address.octets.end()},
          to_string(address)};
}

dns_resource pointer_resource(const dns_name& name) {
  return {dns_type::ptr, name.wire(), to_string(name)};
}

} // namespace vmswitch
