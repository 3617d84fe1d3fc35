#include "vmnet/host_config.hpp"

namespace vmswitch {

namespace {

constexpr std::uint32_t smallest_mtu = 576;
constexpr std::uint32_t largest_mtu = 65520;

/// First octets that no host on a network may have: 0, 127 and 224 upwards (RFC 6890, 2.2.2).
bool is_usable_network(ipv4_address network) {
  const auto first = network.value >> 24;
  return first != 0 && first != 127 && first < 224;
}

} // namespace

result<void> check_host_config(const host_config& config) {
  if (config.mtu < smallest_mtu || config.mtu > largest_mtu)
    return fail("mtu " + std::to_string(config.mtu) + " is not between " +
                std::to_string(smallest_mtu) + " and " + std::to_string(largest_mtu));
  if (config.mode == host_mode::bridged && config.interface.empty() && !config.tap_fd)
    return fail("a bridged network needs the name of a bridge of this host");
  if (!owns_subnet(config.mode))
    return {};

  const auto& subnet = config.subnet;
  if (subnet.prefix_length < 8 || subnet.prefix_length > 27)
    return fail("subnet " + to_string(subnet) + " has no prefix length between /8 and /27");
  if ((subnet.network.value & ~subnet.mask().value) != 0)
    return fail(
        "subnet " + to_string(subnet) + " has host bits set: write " +
        to_string(ipv4_subnet{{subnet.network.value & subnet.mask().value}, subnet.prefix_length}));
  if (!is_usable_network(subnet.network))
    return fail("subnet " + to_string(subnet) +
                " cannot be given to hosts: use a private one such as 192.168.105.0/24");
  if (!subnet.is_host(config.gateway))
    return fail("gateway " + to_string(config.gateway) + " is not a host address of subnet " +
                to_string(subnet) + ": use " + to_string(subnet.at(1)));
  return {};
}

} // namespace vmswitch
