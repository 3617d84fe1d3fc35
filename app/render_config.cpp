#include "app/render_config.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "app/setting_values.hpp"
#include "vmnet/tap/tap_names.hpp"
#include "vmnet/user_addresses.hpp"

namespace vmswitch {

namespace {

// A TOML basic string (toml.io/en/v1.0.0#string).
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      fmt::format_to(std::back_inserter(out), "\\{}", c);
    else if (byte < 0x20 || byte == 0x7f)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    else
      out += c;
  }
  return out + '"';
}

class toml_writer {
public:
  void header(std::string_view text) {
    fmt::format_to(std::back_inserter(out_), "{}{}\n", out_.empty() ? "" : "\n", text);
  }
  void text(std::string_view key, std::string_view value) { line(key, quoted(value)); }
  void flag(std::string_view key, bool value) { line(key, value ? "true" : "false"); }
  template <class Integer>
  void number(std::string_view key, Integer value) {
    line(key, fmt::to_string(value));
  }
  void line(std::string_view key, std::string_view value) {
    fmt::format_to(std::back_inserter(out_), "{} = {}\n", key, value);
  }
  std::string take() { return std::move(out_); }

private:
  std::string out_;
};

void write_listener(toml_writer& out, const listen_config& listener) {
  out.header("[[network.listen]]");
  out.text("type", to_string(listener.type));
  out.text("path", listener.path);
  if (listener.group)
    out.text("group", *listener.group);
  if (listener.mode)
    out.text("mode", socket_mode_text(*listener.mode));
  else
    out.text("# mode", listener.group ? "0660" : "0600");
  out.flag("isolated", listener.isolated);
}

std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& one : texts)
    out += (out.empty() ? "" : ", ") + quoted(one);
  return "[" + out + "]";
}

std::string listed(const std::vector<ipv4_address>& addresses) {
  std::vector<std::string> texts;
  for (const auto address : addresses)
    texts.push_back(to_string(address));
  return listed(texts);
}

// As text where it can be read, else as hexadecimal digits.
std::string option_entry(const dhcp_option& option) {
  const bool readable =
      std::ranges::all_of(option.value, [](char c) { return c >= 0x20 && c < 0x7f; });
  std::string hex;
  for (const char octet : option.value)
    hex += fmt::format("{:02x}", static_cast<unsigned char>(octet));
  return fmt::format("{{ code = {}, {} = {} }}", option.code, readable ? "text" : "hex",
                     quoted(readable ? option.value : hex));
}

void write_dhcp(toml_writer& out, const host_config& host, const dhcp_config& dhcp) {
  out.header("[network.dhcp]");
  out.flag("enabled", serves_dhcp(host, dhcp));
  if (dhcp.range || serves_dhcp(host, dhcp)) {
    const auto range = dhcp.range.value_or(default_dhcp_range(host));
    out.line("range", listed(std::vector{range.first, range.last}));
  }
  out.number("lease_time", dhcp.lease_time.count());
  if (!dhcp.domain.empty())
    out.text("domain", dhcp.domain);
  else if (!host.dns_domain.empty() && serves_dhcp(host, dhcp))
    out.text("# domain", host.dns_domain);
  if (!dhcp.search.empty())
    out.line("search", listed(dhcp.search));
  if (dhcp.dns || serves_dhcp(host, dhcp))
    out.line("dns", listed(dhcp.dns.value_or(default_dhcp_dns(host))));
  if (dhcp.lease_file)
    out.text("lease_file", *dhcp.lease_file);
  if (!dhcp.options.empty()) {
    std::string all;
    for (const auto& option : dhcp.options)
      all += (all.empty() ? "" : ", ") + option_entry(option);
    out.line("options", "[" + all + "]");
  }
  for (const auto& reservation : dhcp.reservations) {
    out.header("[[network.reservation]]");
    out.text("mac", to_string(reservation.mac));
    if (reservation.address)
      out.text("address", to_string(*reservation.address));
    if (!reservation.name.empty())
      out.text("name", reservation.name);
  }
}

void write_dns(toml_writer& out, const host_config& host, const dns_config& dns) {
  out.header("[network.dns]");
  out.flag("enabled", serves_dns(host, dns));
  out.text("domain", dns.domain);
  if (dns.upstream) {
    std::vector<std::string> texts;
    for (const auto& server : *dns.upstream)
      texts.push_back(to_string(server));
    out.line("upstream", listed(texts));
  } else {
    out.line("# upstream", "those of /etc/resolv.conf");
  }
  out.number("cache_size", dns.cache_size);
  for (const auto& record : dns.records) {
    out.header("[[network.dns.record]]");
    out.text("name", record.name);
    out.text("type", to_string(record.type));
    out.text("value", record.value);
  }
}

std::string port_text(std::uint16_t first, std::size_t count) {
  return count == 1 ? fmt::to_string(first)
                    : quoted(fmt::format("{}-{}", first, first + count - 1));
}

// Whether `rule` is the next port of a range that begins with `first`.
bool continues(const forward_rule& first, std::size_t count, const forward_rule& rule) {
  return rule.listen.protocol == first.listen.protocol &&
         rule.listen.address == first.listen.address && rule.to == first.to &&
         rule.listen.port == first.listen.port + count && rule.to_port == first.to_port + count;
}

void write_forwards(toml_writer& out, const std::vector<forward_rule>& rules) {
  for (std::size_t i = 0; i < rules.size();) {
    std::size_t count = 1;
    while (i + count < rules.size() && continues(rules[i], count, rules[i + count]))
      ++count;
    const auto& rule = rules[i];
    out.header("[[network.forward]]");
    out.text("protocol", to_string(rule.listen.protocol));
    out.text("listen", to_string(rule.listen.address));
    out.line("port", port_text(rule.listen.port, count));
    out.text("to", to_string(rule.to));
    out.line("to_port", port_text(rule.to_port, count));
    i += count;
  }
}

// Where a name is chosen, the one that is tried first.
void write_interface(toml_writer& out, const host_config& host) {
  if (!uses_tap(host.mode))
    return;
  if (!host.interface.empty())
    out.text("interface", host.interface);
  else if (!host.tap_fd)
    out.text("# interface", device_name_for(host.name, 0));
  if (host.tap_fd)
    out.number("tap_fd", *host.tap_fd);
  if (!host.bridge_helper.empty())
    out.text("bridge_helper", host.bridge_helper);
}

void write_ipv6_prefix(toml_writer& out, const host_config& host) {
  if (!host.ipv6 || !owns_subnet(host.mode))
    return;
  const auto prefix = uses_tap(host.mode) ? ula_prefix_for(host) : user_prefix_for(host);
  out.text(host.ipv6_prefix ? "ipv6_prefix" : "# ipv6_prefix", to_string(prefix));
}

void write_network(toml_writer& out, const network_config& network) {
  out.header("[[network]]");
  out.text("name", network.name);
  out.text("mode", to_string(network.host.mode));
  write_interface(out, network.host);
  if (network.host.mode != host_mode::bridged) {
    out.text("subnet", to_string(network.host.subnet));
    out.text("gateway", to_string(network.host.gateway));
  }
  out.number("mtu", network.host.mtu);
  out.flag("ipv6", network.host.ipv6);
  write_ipv6_prefix(out, network.host);
  out.flag("host_loopback", network.host.host_loopback);

  const auto& limits = network.limits;
  out.header("[network.limits]");
  out.number("ports", limits.ports);
  out.number("macs", limits.macs);
  out.number("macs_per_port", limits.macs_per_port);
  out.number("slabs", limits.slab_budget);
  out.number("egress_bursts", limits.egress_bursts);
  out.number("egress_deadline_ms", limits.egress_deadline.count());
  out.number("mac_ageing_s", limits.mac_ageing.count());

  write_dns(out, network.host, network.dns);
  write_dhcp(out, network.host, network.dhcp);
  write_forwards(out, network.forwards);
  for (const auto& listener : network.listeners)
    write_listener(out, listener);
}

} // namespace

namespace {

void write_control(toml_writer& out, const control_settings& control) {
  if (control.path)
    out.text("control", *control.path);
  else if (!control.usual.empty())
    out.text("# control", control.usual);
  if (control.group)
    out.text("control_group", *control.group);
  if (control.mode)
    out.text("control_mode", socket_mode_text(*control.mode));
  if (!control.admins.empty())
    out.line("control_admins", listed(control.admins));
  if (control.readers)
    out.line("control_readers", listed(*control.readers));
  if (control.dashboard)
    out.text("dashboard", to_string(*control.dashboard));
}

} // namespace

std::string render_config(const daemon_settings& settings) {
  toml_writer out;
  out.header("[daemon]");
  out.text("log_level", to_string(settings.log.level));
  out.text("log_format", to_string(settings.log.format));
  if (settings.pidfile)
    out.text("pidfile", *settings.pidfile);
  if (settings.user)
    out.text("user", *settings.user);
  if (settings.group)
    out.text("group", *settings.group);
  write_control(out, settings.control);
  out.number(settings.workers ? "workers" : "# workers", worker_count(settings));
  for (const auto& network : settings.networks)
    write_network(out, network);
  return out.take();
}

} // namespace vmswitch
