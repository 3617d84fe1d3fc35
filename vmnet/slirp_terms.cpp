#include "vmnet/slirp_terms.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "vmnet/poll_set.hpp"
#include "vmnet/user_addresses.hpp"

namespace vmswitch {

namespace {

constexpr std::array<std::pair<unsigned, int>, 5> event_terms{{
    {poll_set::readable, SLIRP_POLL_IN},
    {poll_set::writable, SLIRP_POLL_OUT},
    {poll_set::urgent, SLIRP_POLL_PRI},
    {poll_set::error, SLIRP_POLL_ERR},
    {poll_set::hangup, SLIRP_POLL_HUP},
}};

in_addr to_in_addr(ipv4_address address) {
  return {htonl(address.value)};
}

in6_addr to_in6_addr(const ipv6_address& address) {
  in6_addr made{};
  std::ranges::copy(address.octets, made.s6_addr);
  return made;
}

} // namespace

SlirpConfig to_slirp_config(const host_config& config) {
  SlirpConfig made{};
  made.version = 4;
  made.in_enabled = true;
  made.vnetwork = to_in_addr(config.subnet.network);
  made.vnetmask = to_in_addr(config.subnet.mask());
  made.vhost = to_in_addr(config.gateway);
  made.vnameserver = to_in_addr(nameserver_for(config));
  made.disable_dhcp = true; // ours has no limit of 16 leases
  made.in6_enabled = has_ipv6(config);
  const auto prefix = user_prefix_for(config);
  made.vprefix_addr6 = to_in6_addr(prefix);
  made.vprefix_len = 64;
  made.vhost6 = to_in6_addr(ipv6_host(prefix, ipv6_gateway_number));
  made.vnameserver6 = to_in6_addr(ipv6_host(prefix, ipv6_nameserver_number));
  made.if_mtu = config.mtu;
  made.if_mru = config.mtu;
  made.disable_host_loopback = !config.host_loopback;
  return made;
}

unsigned from_slirp_events(int events) {
  unsigned ours = 0;
  for (const auto& [our, their] : event_terms)
    if ((events & their) != 0)
      ours |= our;
  return ours;
}

int to_slirp_events(unsigned events) {
  int theirs = 0;
  for (const auto& [our, their] : event_terms)
    if ((events & our) != 0)
      theirs |= their;
  return theirs;
}

} // namespace vmswitch
