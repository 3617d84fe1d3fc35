#include "app/vmnet_identity.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/setting_values.hpp"
#include "vmnet/tap/tap_names.hpp"

namespace vmswitch {

namespace {

constexpr std::string_view interface_option = "--vmnet-interface-id";
constexpr std::string_view network_option = "--vmnet-network-identifier";
constexpr std::string_view prefix_option = "--vmnet-nat66-prefix";

template <class T, class Parse>
std::optional<T> take(std::string_view option, const std::optional<std::string>& text, Parse parse,
                      std::vector<std::string>& complaints) {
  if (!text)
    return {};
  result<T> value = parse(*text);
  if (value)
    return std::move(*value);
  complaints.push_back(fmt::format("{}: {}", option, value.error().text));
  return {};
}

void put_network_identifier(network_config& network, const std::string& uuid,
                            std::vector<std::string>& notes) {
  auto& host = network.host;
  if (host.mode != host_mode::host) {
    notes.push_back(fmt::format("{} changes nothing in mode {}: it is for mode host",
                                network_option, to_string(host.mode)));
    return;
  }
  network.dhcp.enabled = false;
  if (host.ipv6 && !host.ipv6_prefix)
    host.ipv6_prefix = ula_prefix_from(uuid);
}

void put_prefix(network_config& network, const ipv6_address& prefix,
                std::vector<std::string>& complaints) {
  auto& host = network.host;
  if (!owns_subnet(host.mode))
    complaints.push_back(fmt::format("{}: a network in mode {} has no IPv6 prefix of ours",
                                     prefix_option, to_string(host.mode)));
  else if (!host.ipv6)
    complaints.push_back(fmt::format("{}: IPv6 is off in the file", prefix_option));
  else
    host.ipv6_prefix = prefix;
}

} // namespace

void put_identity(daemon_settings& settings, const vmnet_identity& identity,
                  std::vector<std::string>& complaints, std::vector<std::string>& notes) {
  const auto interface =
      take<std::string>(interface_option, identity.interface_id, parse_uuid, complaints);
  const auto network =
      take<std::string>(network_option, identity.network_identifier, parse_uuid, complaints);
  const auto prefix =
      take<ipv6_address>(prefix_option, identity.nat66_prefix, parse_ipv6_prefix, complaints);
  if (interface)
    notes.push_back(fmt::format("{} changes nothing: addresses follow from names here, and VMs "
                                "have MAC addresses of their own",
                                interface_option));
  for (const auto& [option, given] : {std::pair{network_option, network.has_value()},
                                      std::pair{prefix_option, prefix.has_value()}})
    if (given && settings.networks.size() != 1) {
      complaints.push_back(fmt::format("{}: the file has several networks, which cannot have one "
                                       "in common: write ipv6_prefix there",
                                       option));
      return;
    }
  if (prefix)
    put_prefix(settings.networks[0], *prefix, complaints);
  if (network)
    put_network_identifier(settings.networks[0], *network, notes);
}

} // namespace vmswitch
