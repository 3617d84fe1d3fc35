#include "app/config_file.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/control_section.hpp"
#include "app/dhcp_section.hpp"
#include "app/dns_section.hpp"
#include "app/forward_section.hpp"
#include "app/setting_values.hpp"
#include "app/toml_document.hpp"
#include "app/toml_section.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

namespace {

constexpr auto needs_bridge =
    "a bridged network needs the bridge that it is to be part of: interface = \"br0\", say";
constexpr std::size_t max_networks = 256;
constexpr std::size_t max_listeners = 64; // of one network

// Things of which there may be one only, and the line that has it.
using places = std::map<std::string, toml::source_index>;

class config_reader {
public:
  config_reader(const std::string& file, const toml_document& document, config_report& report)
      : folder_{std::filesystem::path{file}.parent_path()}, document_{document}, report_{report} {}

  daemon_settings read() {
    toml_section section{document_.root, "", report_};
    if (const auto* daemon = section.table("daemon"))
      read_daemon({*daemon, "daemon", report_});
    for (const auto* network :
         needed(section, "network", max_networks,
                "there is no network: add a [[network]] with a [[network.listen]]"))
      settings_.networks.push_back(read_network({*network, "network", report_}));
    section.finish();
    return std::move(settings_);
  }

private:
  // The tables `[[key]]`, of which there must be one at least.
  std::vector<const toml::table*> needed(toml_section& section, std::string_view key,
                                         std::size_t most, std::string_view if_none) {
    const auto errors = report_.size();
    auto found = section.tables(key, most);
    if (found.empty() && report_.size() == errors && !is_hidden(section, key))
      section.complain(key, std::string{if_none});
    return found;
  }

  bool is_hidden(const toml_section& section, std::string_view key) const {
    return document_.may_have_lost(section.name_of(key), section.place_of(key).line);
  }

  void read_daemon(toml_section section) {
    settings_.log.level = section.parsed("log_level", parse_log_level).value_or(log_level::info);
    settings_.log.format =
        section.parsed("log_format", parse_log_format).value_or(log_format::text);
    if (const auto path = section.parsed("pidfile", parse_path)) {
      settings_.pidfile = resolve(*path);
      claim(paths_, section, "pidfile", *settings_.pidfile);
    }
    if (const auto workers = section.integer("workers", 1, max_workers))
      settings_.workers = static_cast<std::size_t>(*workers);
    settings_.user = section.parsed("user", parse_user);
    settings_.group = section.parsed("group", parse_group);
    if (settings_.group && !settings_.user && !section.has("user"))
      section.complain("group", "a group without a user changes nothing: add user = \"NAME\"");
    settings_.control = read_control(section, [this](const auto& path) { return resolve(path); });
    if (settings_.control.path && !settings_.control.path->empty())
      claim(paths_, section, "control", *settings_.control.path);
    section.finish();
  }

  network_config read_network(toml_section section) {
    network_config network;
    const auto name = section.parsed("name", parse_network_name);
    network.name = name.value_or(network.name);
    if (name.has_value() == section.has("name"))
      claim(names_, section, "name", network.name);
    network.host.name = network.name;
    const auto errors = report_.size();
    read_host(section, network.host);
    const bool host_is_right = report_.size() == errors;
    network.dns = read_dns(section, network.host, report_);
    network.host.dns_domain = network.dns.enabled ? network.dns.domain : std::string{};
    network.dhcp = read_dhcp(section, network.host, host_is_right, report_);
    network.forwards =
        read_forwards(section, network, report_.size() == errors, forwards_, report_);
    if (const auto* dhcp = section.table("dhcp"); dhcp != nullptr && network.dhcp.lease_file) {
      toml_section place{*dhcp, "network.dhcp", report_};
      network.dhcp.lease_file = resolve(*network.dhcp.lease_file);
      claim(paths_, place, "lease_file", *network.dhcp.lease_file);
    }
    if (const auto* limits = section.table("limits"))
      read_limits({*limits, "network.limits", report_}, network.limits);
    for (const auto* listener :
         needed(section, "listen", max_listeners,
                "nothing can connect to this network: add a [[network.listen]] with a path"))
      network.listeners.push_back(read_listener({*listener, "network.listen", report_}));
    section.finish();
    return network;
  }

  void read_host(toml_section& section, host_config& host) {
    const auto errors = report_.size();
    const auto mode = section.parsed("mode", parse_host_mode);
    host.mode = mode.value_or(host.mode);
    if (mode.has_value() == section.has("mode"))
      refuse_foreign_keys(section, host.mode);
    read_interface(section, host);
    const auto subnet = section.parsed("subnet", parse_subnet);
    const auto gateway = section.parsed("gateway", parse_address);
    host.subnet = subnet.value_or(host.subnet);
    host.gateway = gateway.value_or(host.subnet.at(1));
    const bool subnet_is_known = subnet.has_value() == section.has("subnet");
    if (gateway && subnet_is_known && !host.subnet.is_host(*gateway))
      section.complain("gateway",
                       fmt::format("{} is not an address for a host in {}{}: write {}",
                                   to_string(*gateway), subnet ? "" : "the default subnet ",
                                   to_string(host.subnet), to_string(host.subnet.at(1))));
    if (const auto mtu = section.integer("mtu", 576, 65520))
      host.mtu = static_cast<std::uint32_t>(*mtu);
    const auto ipv6 = section.flag("ipv6");
    host.ipv6 = ipv6.value_or(host.mtu >= least_ipv6_mtu);
    host.ipv6_prefix = section.parsed("ipv6_prefix", parse_ipv6_prefix);
    if (host.ipv6_prefix && !host.ipv6 && owns_subnet(host.mode))
      section.complain("ipv6_prefix", "this network has no IPv6: remove it, or write ipv6 = true");
    if (host.ipv6 && host.mtu < least_ipv6_mtu)
      section.complain("ipv6", fmt::format("IPv6 needs an mtu of {} or more, and this network has "
                                           "{}: raise it or write ipv6 = false",
                                           least_ipv6_mtu, host.mtu));
    host.host_loopback = section.flag("host_loopback").value_or(host.host_loopback);
    if (report_.size() == errors)
      check_host(section, host);
  }

  // Keys that have no meaning in a mode, and whose presence is a misunderstanding.
  void refuse_foreign_keys(toml_section& section, host_mode mode) {
    const auto refuse = [&](std::string_view key, std::string_view why) {
      if (section.has(key))
        section.complain(key, fmt::format("{}: remove it", why));
    };
    if (mode == host_mode::bridged)
      for (const auto* key : {"subnet", "gateway", "ipv6_prefix"})
        refuse(key, "a bridged network has the addresses of the network behind the bridge");
    if (mode == host_mode::isolated)
      refuse("ipv6_prefix", "an isolated network has no router that could announce it");
    if (!uses_tap(mode))
      for (const auto* key : {"interface", "tap_fd"})
        refuse(key, "only the modes \"host\", \"shared\" and \"bridged\" have a network device");
    if (mode != host_mode::bridged)
      refuse("bridge_helper", "only the mode \"bridged\" has a bridge");
  }

  void read_interface(toml_section& section, host_config& host) {
    const auto interface = section.parsed("interface", parse_device_name);
    host.interface = interface.value_or("");
    if (host.mode != host_mode::bridged && interface)
      claim(devices_, section, "interface", *interface);
    if (const auto fd = section.integer("tap_fd", 3, 65535)) {
      host.tap_fd = static_cast<int>(*fd);
      claim(descriptors_, section, "tap_fd", fmt::to_string(*fd));
    }
    host.bridge_helper = section.parsed("bridge_helper", parse_path).value_or("");
    if (!host.bridge_helper.empty())
      host.bridge_helper = resolve(host.bridge_helper);
    if (host.mode == host_mode::bridged && !section.has("interface") && !section.has("tap_fd") &&
        !is_hidden(section, "interface"))
      section.complain("interface", needs_bridge);
    if (uses_tap(host.mode) && host.mode != host_mode::bridged && interface && host.tap_fd)
      section.complain("tap_fd", "the descriptor says which TAP it is: remove interface or tap_fd");
  }

  // What the host interface itself asks for; a subnet that is wrong with any gateway is to blame
  // first.
  void check_host(toml_section& section, const host_config& host) {
    auto plain = host;
    plain.gateway = host.subnet.at(1);
    if (auto right = check_host_config(plain); !right)
      section.complain("subnet", std::move(right.error().text));
    else if (right = check_host_config(host); !right)
      section.complain("gateway", std::move(right.error().text));
  }

  void read_limits(toml_section section, network_limits& limits) {
    const auto size = [&](std::string_view key, std::size_t& value, std::int64_t low,
                          std::int64_t high) {
      if (const auto number = section.integer(key, low, high))
        value = static_cast<std::size_t>(*number);
    };
    size("ports", limits.ports, 1, 65536);
    size("macs", limits.macs, 1, 1 << 20);
    size("macs_per_port", limits.macs_per_port, 1, 1 << 20);
    if (limits.macs_per_port > limits.macs) {
      if (section.has("macs_per_port"))
        section.complain("macs_per_port", fmt::format("{} is more than the {} macs of the network",
                                                      limits.macs_per_port, limits.macs));
      limits.macs_per_port = limits.macs;
    }
    size("slabs", limits.slab_budget, 4, 1024);
    size("egress_bursts", limits.egress_bursts, 16, 1 << 20);
    if (const auto deadline = section.integer("egress_deadline_ms", 1, 10'000))
      limits.egress_deadline = std::chrono::milliseconds{*deadline};
    // The range of IEEE 802.1D-2004, table 7-5.
    if (const auto ageing = section.integer("mac_ageing_s", 10, 1'000'000))
      limits.mac_ageing = std::chrono::seconds{*ageing};
    section.finish();
  }

  listen_config read_listener(toml_section section) {
    listen_config listener;
    listener.type = section.parsed("type", parse_listen_type).value_or(listener.type);
    if (const auto path = section.parsed("path", parse_path)) {
      listener.path = resolve(*path);
      if (auto fits = parse_socket_path(listener.path); !fits)
        section.complain("path", std::move(fits.error().text));
      claim(paths_, section, "path", listener.path);
    } else if (!section.has("path") && !is_hidden(section, "path")) {
      section.complain("path", "a listener needs the path of its socket");
    }
    listener.group = section.parsed("group", parse_group);
    listener.mode = section.parsed("mode", parse_socket_mode);
    listener.isolated = section.flag("isolated").value_or(listener.isolated);
    section.finish();
    return listener;
  }

  std::string resolve(const std::string& path) const { return (folder_ / path).string(); }

  // Paths are compared as they would be without "." and "..", and kept as they were written.
  void claim(places& taken, toml_section& section, std::string_view key, const std::string& value) {
    const auto compared = std::filesystem::path{value}.lexically_normal().string();
    const auto line = section.place_of(key).line;
    const auto [first, is_new] = taken.emplace(compared, line);
    if (!is_new)
      section.complain(key,
                       fmt::format("\"{}\" is already used in line {}: each needs one of its own",
                                   value, first->second));
  }

  std::filesystem::path folder_;
  const toml_document& document_;
  config_report& report_;
  daemon_settings settings_;
  places names_;
  places devices_;
  places descriptors_;
  places paths_;
  forward_places forwards_;
};

} // namespace

tl::expected<daemon_settings, std::vector<config_error>> parse_config(std::string_view text,
                                                                      const std::string& file) {
  config_report report{file};
  const auto document = parse_toml(text, report);
  daemon_settings settings;
  if (document.usable)
    settings = config_reader{file, document, report}.read();
  if (!report.empty())
    return tl::unexpected{report.take()};
  return settings;
}

} // namespace vmswitch
