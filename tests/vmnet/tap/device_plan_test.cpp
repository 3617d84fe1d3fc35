#include "vmnet/tap/device_plan.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "vmnet/tap/missing_privilege.hpp"
#include "vmnet/tap/tap_names.hpp"

using namespace vmswitch;

namespace {

using what = device_step::what;

host_config config_for(host_mode mode) {
  host_config config;
  config.mode = mode;
  if (mode == host_mode::bridged)
    config.interface = "br0";
  return config;
}

std::vector<std::string> commands(const host_config& config, const device_state& found) {
  std::vector<std::string> all;
  for (const auto& step : plan_device(config, "vms-x", found))
    all.push_back(command_for("vms-x", step));
  return all;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

} // namespace

TEST_SUITE("device_plan") {

  TEST_CASE("a new device for the host gets MAC, settings and addresses before it comes up") {
    const auto all = commands(config_for(host_mode::host), {});
    CHECK(all.front() == "ip link set dev vms-x address " + to_string(device_mac_for("vms-x")));
    CHECK(all.back() == "ip link set dev vms-x up");
    CHECK(has(all, "ip address add 192.168.105.1/24 dev vms-x"));
    const auto gateway6 = gateway6_for(config_for(host_mode::host));
    REQUIRE(gateway6);
    CHECK(has(all, "ip address add " + to_string(*gateway6) + "/64 dev vms-x"));
    CHECK_FALSE(has(all, "ip link set dev vms-x mtu 1500")); // that it has already
  }

  TEST_CASE("the device believes no routes, redirects or foreign addresses of VMs") {
    for (const auto mode : {host_mode::host, host_mode::shared}) {
      const auto all = commands(config_for(mode), {});
      for (const auto* setting :
           {"ipv4/conf/vms-x/rp_filter=1", "ipv4/conf/vms-x/accept_redirects=0",
            "ipv6/conf/vms-x/accept_ra=0", "ipv6/conf/vms-x/autoconf=0",
            "ipv6/conf/vms-x/accept_redirects=0"})
        CHECK_MESSAGE(has(all, std::string{"sysctl -w net/"} + setting), setting);
    }
  }

  TEST_CASE("gtv#15: the device answers ARP for its own address only") {
    CHECK(has(commands(config_for(host_mode::shared), {}),
              "sysctl -w net/ipv4/conf/vms-x/arp_ignore=1"));
  }

  TEST_CASE("a host-only device forwards nothing, whatever the host does for others") {
    const auto all = commands(config_for(host_mode::host), {});
    CHECK(has(all, "sysctl -w net/ipv4/conf/vms-x/forwarding=0"));
    CHECK(has(all, "sysctl -w net/ipv6/conf/vms-x/forwarding=0"));
    CHECK_FALSE(has(commands(config_for(host_mode::shared), {}),
                    "sysctl -w net/ipv4/conf/vms-x/forwarding=0"));
  }

  TEST_CASE("without IPv6 the device has none, and on a kernel without it nothing is tried") {
    auto config = config_for(host_mode::shared);
    config.ipv6 = false;
    CHECK(has(commands(config, {}), "sysctl -w net/ipv6/conf/vms-x/disable_ipv6=1"));
    device_state without;
    without.has_ipv6 = false;
    for (const auto& command : commands(config_for(host_mode::shared), without))
      CHECK(command.find("ipv6") == std::string::npos);
  }

  TEST_CASE("a small mtu leaves no IPv6") {
    auto config = config_for(host_mode::shared);
    config.mtu = 1279;
    CHECK_FALSE(gateway6_for(config));
    CHECK(has(commands(config, {}), "ip link set dev vms-x mtu 1279"));
  }

  TEST_CASE("a port has no addresses, the bridge's mtu, and is in the bridge before it is up") {
    device_state found;
    found.bridge_mtu = 9000;
    const auto all = commands(config_for(host_mode::bridged), found);
    CHECK(all == std::vector<std::string>{
                     "ip link set dev vms-x address " + to_string(device_mac_for("vms-x")),
                     "ip link set dev vms-x mtu 9000",
                     "sysctl -w net/ipv6/conf/vms-x/disable_ipv6=1",
                     "ip link set dev vms-x master br0", "ip link set dev vms-x up"});
  }

  TEST_CASE("someone's device keeps its MAC address, and gets only what it lacks") {
    device_state found;
    found.ours = false;
    found.up = true;
    found.addresses4 = {{{0xc0a86901}, 24}};
    found.has_ipv6 = false;
    for (const auto& step : plan_device(config_for(host_mode::host), "tap0", found))
      CHECK_FALSE(is_required(step));
    found.addresses4 = {{{0xc0a86901}, 16}}; // another subnet
    const auto steps = plan_device(config_for(host_mode::host), "tap0", found);
    CHECK(std::ranges::count_if(steps, is_required) == 1);
    CHECK(std::ranges::none_of(steps, [](const auto& step) { return step.kind == what::mac; }));
  }

  TEST_CASE("what was done to someone's device is taken back, to what it was") {
    const auto undone = [](const device_step& done, std::string_view before) {
      const auto undo = undo_of(done, before);
      return undo ? command_for("tap0", *undo) : std::string{};
    };
    CHECK(undone({what::address4, "10.0.0.1/8"}, "") == "ip address del 10.0.0.1/8 dev tap0");
    CHECK(undone({what::address6, "fd00::1/64"}, "") == "ip address del fd00::1/64 dev tap0");
    CHECK(undone({what::up, ""}, "") == "ip link set dev tap0 down");
    CHECK(undone({what::bridge, "br0"}, "") == "ip link set dev tap0 nomaster");
    CHECK(undone({what::mtu, "9000"}, "1500") == "ip link set dev tap0 mtu 1500");
    CHECK(undone({what::setting, "ipv6/accept_ra=0"}, "2") ==
          "sysctl -w net/ipv6/conf/tap0/accept_ra=2");
    CHECK(undone({what::setting, "ipv6/accept_ra=0"}, "0").empty()); // nothing was changed
    CHECK(undone({what::setting, "ipv6/accept_ra=0"}, "").empty());  // nor could it be
  }

} // TEST_SUITE

TEST_CASE("who lacks the privilege reads its name, and what works without it") {
  for (const auto mode : {host_mode::host, host_mode::shared, host_mode::bridged}) {
    const auto text = missing_privilege(config_for(mode), "no");
    CHECK(text.find("CAP_NET_ADMIN") != std::string::npos);
    CHECK(text.find("--vmnet-mode=user needs no privilege") != std::string::npos);
  }
  CHECK(missing_privilege(config_for(host_mode::host), "no").find("ip tuntap add") !=
        std::string::npos);
  CHECK(missing_privilege(config_for(host_mode::bridged), "no").find("allow br0") !=
        std::string::npos);
}
