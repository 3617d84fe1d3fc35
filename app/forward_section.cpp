#include "app/forward_section.hpp"

#include <optional>

#include <fmt/format.h>

namespace vmswitch {

namespace {

class forward_reader {
public:
  forward_reader(const network_config& network, bool host_is_right, forward_places& taken)
      : host_{network.host}, gives_addresses_{serves_dhcp(network.host, network.dhcp)},
        host_is_right_{host_is_right}, taken_{taken} {}

  void read(toml_section section) {
    forward_rule like;
    like.listen.protocol =
        section.parsed("protocol", parse_forward_protocol).value_or(forward_protocol::tcp);
    like.listen.address =
        section.parsed("listen", parse_listen_address).value_or(like.listen.address);
    const auto ports = read_ports(section, "port");
    if (!ports && !section.has("port"))
      section.complain("port", "a forward needs the port of this host that it listens on");
    const auto to = section.parsed("to", parse_forward_target);
    if (!to && !section.has("to"))
      section.complain("to", "a forward needs a VM: to = \"web\", its MAC address or its address");
    like.to = to.value_or(forward_target{});
    const auto to_ports = section.has("to_port") ? read_ports(section, "to_port") : ports;
    if (ports && to && to_ports)
      add(section, like, *ports, *to_ports);
    section.finish();
  }

  std::vector<forward_rule> take() { return std::move(rules_); }

private:
  void add(toml_section& section, const forward_rule& like, port_range ports, port_range to_ports) {
    const auto expanded = expand_forward(like, ports, to_ports);
    if (!expanded) {
      section.complain(section.has("to_port") ? "to_port" : "port", expanded.error().text);
      return;
    }
    if (rules_.size() + expanded->size() > most_forwards) {
      section.complain(
          "port", fmt::format("a network may have {} forwards, and these are more", most_forwards));
      return;
    }
    if (host_is_right_)
      if (auto right = check_forward(expanded->front(), host_, gives_addresses_); !right)
        section.complain("to", std::move(right.error().text));
    for (const auto& rule : *expanded)
      if (!claim(section, rule.listen))
        break; // the others of a range would say the same
    rules_.insert(rules_.end(), expanded->begin(), expanded->end());
  }

  // A number, or a text with a range.
  static std::optional<port_range> read_ports(toml_section& section, std::string_view key) {
    if (!section.is_text(key)) {
      const auto number = section.integer(key, 1, 65535);
      if (!number)
        return {};
      const auto port = static_cast<std::uint16_t>(*number);
      return port_range{port, port};
    }
    return section.parsed(key, parse_ports);
  }

  bool claim(toml_section& section, const forward_listen& listen) {
    auto& others = taken_[{listen.protocol, listen.port}];
    for (const auto& [other, line] : others)
      if (in_conflict(listen, other)) {
        section.complain("port", fmt::format("{} is already taken by the forward in line {}",
                                             to_string(listen), line));
        return false;
      }
    others.emplace_back(listen, section.place_of("port").line);
    return true;
  }

  const host_config& host_;
  const bool gives_addresses_;
  const bool host_is_right_;
  forward_places& taken_;
  std::vector<forward_rule> rules_;
};

} // namespace

std::vector<forward_rule> read_forwards(toml_section& section, const network_config& network,
                                        bool host_is_right, forward_places& taken,
                                        config_report& report) {
  forward_reader reader{network, host_is_right, taken};
  for (const auto* one : section.tables("forward", most_forwards))
    reader.read({*one, "network.forward", report});
  return reader.take();
}

} // namespace vmswitch
