#include "app/dhcp_section.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/setting_values.hpp"

namespace vmswitch {

namespace {

class dhcp_reader {
public:
  dhcp_reader(const host_config& host, bool host_is_right, config_report& report)
      : host_{host}, host_is_right_{host_is_right && owns_subnet(host.mode)}, report_{report} {}

  void read_server(toml_section section, dhcp_config& dhcp) {
    if (const auto enabled = section.flag("enabled")) {
      dhcp.enabled = *enabled;
      if (*enabled && !owns_subnet(host_.mode))
        section.complain("enabled", "this network has no gateway of ours that could answer: leave "
                                    "it out, or choose another mode");
    }
    read_range(section, dhcp);
    if (const auto time =
            section.integer("lease_time", dhcp_config::shortest_lease, dhcp_config::longest_lease))
      dhcp.lease_time = std::chrono::seconds{*time};
    dhcp.domain = section.parsed("domain", parse_domain_name).value_or("");
    dhcp.search = list<std::string>(section, "search", dhcp_config::most_search, parse_domain_name)
                      .value_or(dhcp.search);
    dhcp.dns = list<ipv4_address>(section, "dns", dhcp_config::most_dns, parse_address);
    dhcp.lease_file = section.parsed("lease_file", parse_path);
    for (const auto* option : section.tables("options", dhcp_config::most_options))
      read_option({*option, "network.dhcp.options", report_}, dhcp);
    section.finish();
  }

  void read_reservation(toml_section section, dhcp_config& dhcp) {
    dhcp_reservation reservation;
    const auto mac = section.parsed("mac", parse_vm_mac);
    if (!mac && !section.has("mac"))
      section.complain("mac", "a reservation needs the MAC address of its VM");
    if (mac)
      claim(macs_, section, "mac", to_string(reservation.mac = *mac));
    reservation.address = section.parsed("address", parse_address);
    if (reservation.address) {
      claim(addresses_, section, "address", to_string(*reservation.address));
      if (host_is_right_)
        if (auto right = check_reserved_address(host_, *reservation.address); !right)
          section.complain("address", std::move(right.error().text));
    }
    reservation.name = section.parsed("name", parse_host_name).value_or("");
    if (!reservation.name.empty()) {
      auto small = reservation.name;
      std::ranges::transform(small, small.begin(),
                             [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
      claim(names_, section, "name", small);
    }
    if (!section.has("address") && !section.has("name"))
      section.complain("mac", "nothing is reserved: add an address, a name, or both");
    section.finish();
    dhcp.reservations.push_back(std::move(reservation));
  }

private:
  using places = std::map<std::string, toml::source_index>;

  void read_range(toml_section& section, dhcp_config& dhcp) {
    const auto ends = list<ipv4_address>(section, "range", 2, parse_address);
    if (!ends)
      return;
    if (ends->size() != 2) {
      section.complain("range", "write two addresses, the first and the last: [\"192.168.105.4\", "
                                "\"192.168.105.254\"]");
      return;
    }
    dhcp.range = {(*ends)[0], (*ends)[1]};
    if (!host_is_right_)
      return;
    if (auto right = check_dhcp_range(host_, *dhcp.range); !right)
      section.complain("range", std::move(right.error().text));
  }

  void read_option(toml_section section, dhcp_config& dhcp) {
    dhcp_option option;
    const auto code = section.integer("code", 1, 254);
    if (code) {
      option.code = static_cast<std::uint8_t>(*code);
      if (auto right = check_dhcp_option_code(*code); !right)
        section.complain("code", std::move(right.error().text));
      else
        claim(codes_, section, "code", std::to_string(*code));
    } else if (!section.has("code")) {
      section.complain("code", "an option needs its number");
    }
    const auto text = section.text("text");
    const auto hex = section.parsed("hex", parse_hex);
    const auto addresses = list<ipv4_address>(section, "addresses", 63, parse_address);
    if (section.has("text") + section.has("hex") + section.has("addresses") != 1)
      section.complain("code", "an option needs one value: text, hex or addresses");
    if (text)
      option.value = *text;
    else if (hex)
      option.value = *hex;
    else if (addresses)
      for (const auto address : *addresses)
        for (int shift = 24; shift >= 0; shift -= 8)
          option.value += static_cast<char>(address.value >> shift & 0xff);
    if ((text || hex || addresses) && (option.value.empty() || option.value.size() > 255))
      section.complain("code", fmt::format("the value has {} bytes, where 1 to 255 are meant",
                                           option.value.size()));
    section.finish();
    dhcp.options.push_back(std::move(option));
  }

  template <class T>
  std::optional<std::vector<T>> list(toml_section& section, std::string_view key, std::size_t most,
                                     result<T> (*parse)(std::string_view)) {
    const auto written = section.texts(key, most);
    if (!written)
      return {};
    std::vector<T> values;
    bool right = true;
    for (const auto& one : *written) {
      auto value = parse(one.text);
      right = right && value.has_value();
      if (value)
        values.push_back(std::move(*value));
      else
        report_.add(one.place, section.name_of(key), std::move(value.error().text));
    }
    if (!right)
      return {};
    return values;
  }

  void claim(places& taken, toml_section& section, std::string_view key, const std::string& value) {
    const auto line = section.place_of(key).line;
    const auto [first, is_new] = taken.emplace(value, line);
    if (!is_new)
      section.complain(key, fmt::format("{} is already used in line {}", value, first->second));
  }

  const host_config& host_;
  const bool host_is_right_;
  config_report& report_;
  places macs_, addresses_, names_, codes_;
};

} // namespace

dhcp_config read_dhcp(toml_section& network, const host_config& host, bool host_is_right,
                      config_report& report) {
  dhcp_config dhcp;
  dhcp_reader reader{host, host_is_right, report};
  if (const auto* server = network.table("dhcp"))
    reader.read_server({*server, "network.dhcp", report}, dhcp);
  for (const auto* one : network.tables("reservation", dhcp_config::most_reservations))
    reader.read_reservation({*one, "network.reservation", report}, dhcp);
  return dhcp;
}

} // namespace vmswitch
