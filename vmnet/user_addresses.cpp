#include "vmnet/user_addresses.hpp"

namespace vmswitch {

ipv4_address nameserver_for(const host_config& config) {
  const auto third = config.subnet.at(3);
  return third == config.gateway ? config.subnet.at(4) : third;
}

mac_address user_mac_for(ipv4_address address) {
  return mac_address::from_integer(std::uint64_t{0x5255} << 32 | address.value);
}

bool has_ipv6(const host_config& config) {
  return config.ipv6 && config.mtu >= 1280;
}

ipv6_address user_prefix_for(const host_config& config) {
  constexpr ipv6_address usual{{0xfd}};
  return config.ipv6_prefix.value_or(usual);
}

} // namespace vmswitch
