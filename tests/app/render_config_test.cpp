#include "app/render_config.hpp"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "app/text_file.hpp"
#include "app/toml_document.hpp"
#include "tests/app/config_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

void check_same(const listen_config& a, const listen_config& b) {
  CHECK(a.type == b.type);
  CHECK(a.path == b.path);
  CHECK(a.group == b.group);
  CHECK(a.mode == b.mode);
  CHECK(a.isolated == b.isolated);
}

void check_same(const network_config& a, const network_config& b) {
  CHECK(a.name == b.name);
  CHECK(a.host.mode == b.host.mode);
  CHECK(a.host.subnet == b.host.subnet);
  CHECK(a.host.gateway == b.host.gateway);
  CHECK(a.host.mtu == b.host.mtu);
  CHECK(a.host.ipv6 == b.host.ipv6);
  CHECK(a.host.ipv6_prefix == b.host.ipv6_prefix);
  CHECK(a.host.host_loopback == b.host.host_loopback);
  CHECK(a.host.name == b.host.name);
  CHECK(a.host.interface == b.host.interface);
  CHECK(a.host.tap_fd == b.host.tap_fd);
  CHECK(a.host.bridge_helper == b.host.bridge_helper);
  CHECK(a.limits.ports == b.limits.ports);
  CHECK(a.limits.macs == b.limits.macs);
  CHECK(a.limits.macs_per_port == b.limits.macs_per_port);
  CHECK(a.limits.slab_budget == b.limits.slab_budget);
  CHECK(a.limits.egress_bursts == b.limits.egress_bursts);
  CHECK(a.limits.egress_deadline == b.limits.egress_deadline);
  CHECK(a.limits.mac_ageing == b.limits.mac_ageing);
  CHECK(a.dhcp.lease_time == b.dhcp.lease_time);
  CHECK(a.dhcp.domain == b.dhcp.domain);
  CHECK(a.dhcp.search == b.dhcp.search);
  CHECK(a.dhcp.lease_file == b.dhcp.lease_file);
  CHECK(a.dhcp.options == b.dhcp.options);
  CHECK(a.dhcp.reservations == b.dhcp.reservations);
  CHECK(a.forwards == b.forwards);
  REQUIRE(a.listeners.size() == b.listeners.size());
  for (std::size_t i = 0; i < a.listeners.size(); ++i)
    check_same(a.listeners[i], b.listeners[i]);
}

void check_round_trip(const daemon_settings& settings) {
  const auto text = render_config(settings);
  INFO(text);
  const auto again = parsed(text);
  CHECK(again.log.level == settings.log.level);
  CHECK(again.log.format == settings.log.format);
  CHECK(again.pidfile == settings.pidfile);
  CHECK(again.workers == settings.workers);
  CHECK(again.user == settings.user);
  CHECK(again.group == settings.group);
  REQUIRE(again.networks.size() == settings.networks.size());
  for (std::size_t i = 0; i < again.networks.size(); ++i)
    check_same(again.networks[i], settings.networks[i]);
  CHECK(render_config(again) == text);
}

std::string rendered(const std::string& lines) {
  return render_config(parsed(network_with(lines)));
}

} // namespace

TEST_CASE("the effective configuration, parsed again, is the same: all defaults") {
  check_round_trip(parsed(network_with("")));
}

TEST_CASE("the effective configuration, parsed again, is the same: nothing is a default") {
  daemon_settings settings;
  settings.log = {log_level::error, log_format::json};
  settings.pidfile = "/run/\"odd\" \\ \t\x7f\n\xc3\xa4.pid";
  settings.workers = 64;
  settings.user = "vmswitch";
  settings.group = "kvm";
  network_config one;
  one.name = "n-1";
  one.host = {
      host_mode::isolated, {{0x0a000000}, 8}, {0x0a000007}, 576, false, false, "n-1", {}, {}, {}};
  one.limits = {1, 30, 4, 5, 600, std::chrono::milliseconds{7}, std::chrono::seconds{80}};
  one.listeners = {{listen_type::dgram, "/run/a", "kvm", 0777},
                   {listen_type::stream, "/run/b", "kvm", {}},
                   {listen_type::stream, "rel/c", {}, 0}};
  auto two = one;
  two.name = two.host.name = "n-2";
  two.host.mode = host_mode::user;
  two.dhcp = {.enabled = true,
              .range = dhcp_range{{0x0a000008}, {0x0a000010}},
              .lease_time = std::chrono::seconds{77},
              .domain = "vm.internal",
              .search = {"a.example", "b.example"},
              .dns = std::vector<ipv4_address>{},
              .lease_file = "rel/\"leases\"",
              .options = {{66, "boot \"x\" \\"}, {67, std::string("\0\xff", 2)}},
              .reservations = {{mac_address::from_integer(2), ipv4_address{0x0a000009}, "Web"},
                               {mac_address::from_integer(4), {}, "db"},
                               {mac_address::from_integer(6), ipv4_address{0x0a00000a}, ""}}};
  two.listeners = {{listen_type::stream, "/run/d", {}, 0600}};
  auto three = two;
  three.name = three.host.name = "n-3";
  three.host.mode = host_mode::shared;
  three.host.interface = "tap0";
  three.host.mtu = 1500;
  three.host.ipv6 = true;
  three.host.ipv6_prefix = ipv6_address::parse("fd12:3456:789a:1::");
  three.dhcp.lease_file = "leases-3";
  three.listeners = {{listen_type::stream, "/run/e", {}, 0600}};
  auto four = three;
  four.name = four.host.name = "n-4";
  four.host.mode = host_mode::bridged;
  four.dhcp = {};
  four.dhcp.enabled = false;
  four.host.subnet = {{0xc0a86900}, 24};
  four.host.gateway = {0xc0a86901};
  four.host.interface = "br0";
  four.host.tap_fd = 7;
  four.host.bridge_helper = "/opt/helper";
  four.host.ipv6_prefix.reset();
  four.listeners = {{listen_type::stream, "/run/f", {}, 0600}};
  settings.networks = {one, two, three, four};
  check_round_trip(settings);
}

TEST_CASE("what depends on the machine or on another value stands there as a comment") {
  const auto text = render_config(parsed(network_with("")));
  CHECK(contains(text, "\n# workers = "));
  CHECK(contains(text, "\n# mode = \"0600\"\n"));
  const auto grouped = render_config(parsed(network_with("") + "group = \"kvm\"\n"));
  CHECK(contains(grouped, "\n# mode = \"0660\"\n"));
}

TEST_CASE("the IPv6 prefix is shown, as a comment where it was not written") {
  CHECK(contains(rendered(""), "\n# ipv6_prefix = \"fd00::\"\n"));
  CHECK(contains(rendered("mode = \"shared\""), "\n# ipv6_prefix = \"fd"));
  CHECK(contains(rendered("ipv6_prefix = \"fd01::/64\""), "\nipv6_prefix = \"fd01::\"\n"));
  for (const auto* none : {"ipv6 = false", "mode = \"isolated\""})
    CHECK_FALSE(contains(rendered(none), "ipv6_prefix"));
}

TEST_CASE("every file in config/ is right, and survives the round trip") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{VMSWITCH_CONFIG_DIR}) {
    if (entry.path().extension() != ".toml")
      continue;
    ++files;
    INFO(entry.path());
    const auto text = read_text_file(entry.path().string(), max_config_size);
    REQUIRE(text.has_value());
    check_round_trip(parsed(*text));
  }
  CHECK(files > 0);
}

TEST_CASE("the defaults that config/vmswitch.toml shows are the real ones") {
  const auto text = read_text_file(VMSWITCH_CONFIG_DIR "/vmswitch.toml", max_config_size);
  REQUIRE(text.has_value());
  auto shown = parsed(*text);
  REQUIRE(shown.networks.size() == 2);
  shown.networks.resize(1);
  daemon_settings defaults;
  defaults.networks.resize(1);
  defaults.networks[0].listeners = shown.networks[0].listeners;
  CHECK(render_config(shown) == render_config(defaults));
}

TEST_CASE("the addresses that DHCP gives out are shown, whether they were written or not") {
  const auto usual = rendered("");
  CHECK(contains(usual, "[network.dhcp]\nenabled = true\n"
                        "range = [\"192.168.105.4\", \"192.168.105.254\"]\n"
                        "lease_time = 86400\n# domain = \"vm.internal\"\n"
                        "dns = [\"192.168.105.1\"]\n"));
  CHECK(contains(rendered("subnet = \"10.0.0.0/24\""), "\"10.0.0.4\", \"10.0.0.254\""));
  CHECK(contains(rendered("dhcp = { options = [{ code = 42, addresses = [\"1.2.3.4\"] }] }"),
                 "options = [{ code = 42, hex = \"01020304\" }]\n"));
  CHECK(contains(rendered("mode = \"isolated\""), "[network.dhcp]\nenabled = false\n"));
}
