#include "vmnet/tap/tap_names.hpp"

#include <set>

#include <doctest/doctest.h>

using namespace vmswitch;

TEST_SUITE("tap_names") {

  TEST_CASE("a device is called after its network, and further ones get a number") {
    CHECK(device_name_for("default", 0) == "vms-default");
    CHECK(device_name_for("default", 1) == "vms-default-2");
    CHECK(device_name_for("lab.net_1", 0) == "vms-lab.net_1");
    CHECK(device_name_for("elevenchars", 0) == "vms-elevenchars");
  }

  TEST_CASE("a long name is cut to what the kernel takes, and stays one of its own") {
    std::set<std::string> names;
    for (const auto* network :
         {"a-network-of-thirty-two-letters1", "a-network-of-thirty-two-letters2", "a-network-of-x",
          "twelve-chars"})
      for (int choice = 0; choice < device_name_choices; ++choice) {
        const auto name = device_name_for(network, choice);
        CAPTURE(name);
        CHECK(name.size() <= longest_device_name);
        CHECK(names.insert(name).second);
      }
  }

  TEST_CASE("a device's MAC address is stable, local, unicast, and higher than a real card's") {
    const auto mac = device_mac_for("vms-default");
    CHECK(mac == device_mac_for("vms-default"));
    CHECK(mac != device_mac_for("vms-default-2"));
    CHECK_FALSE(mac.is_group());
    CHECK(to_string(mac).substr(0, 3) == "fe:");
  }

  TEST_CASE("networks have prefixes of their own, out of fd00::/8") {
    host_config one;
    auto other_name = one;
    other_name.name = "lab";
    auto other_subnet = one;
    other_subnet.subnet = {{0x0a000000}, 24};
    CHECK(ula_prefix_for(one).octets[0] == 0xfd);
    CHECK(ula_prefix_for(one) == ula_prefix_for(one));
    CHECK(ula_prefix_for(one) != ula_prefix_for(other_name));
    CHECK(ula_prefix_for(one) != ula_prefix_for(other_subnet));
    auto chosen = one;
    chosen.ipv6_prefix = ipv6_address::parse("fd12:3456:789a:1::");
    CHECK(to_string(ula_prefix_for(chosen)) == "fd12:3456:789a:1::");
    for (std::size_t i = 6; i < 16; ++i) // subnet 0, no interface identifier
      CHECK(ula_prefix_for(one).octets[i] == 0);
  }

  TEST_CASE("a table tells its device, and tables of others are none of ours") {
    CHECK(table_name_for("vms-default") == "vmswitch-vms-default");
    CHECK(device_of_table("vmswitch-vms-default") == "vms-default");
    for (const auto* other :
         {"", "filter", "vmswitch", "vmswitch-", "xvmswitch-a", "vmswitch-a-name-that-is-too-long"})
      CHECK_FALSE(device_of_table(other).has_value());
  }

} // TEST_SUITE

TEST_SUITE("ipv6_address") {

  TEST_CASE("a link-local address follows from the MAC address") {
    const auto mac = *mac_address::parse("fe:40:c2:3b:e1:21");
    CHECK(to_string(link_local_for(mac)) == "fe80::fc40:c2ff:fe3b:e121");
    CHECK(link_local_for(mac).is_link_local());
    CHECK_FALSE(ula_prefix_for({}).is_link_local());
  }

  TEST_CASE("a host of a prefix has nothing of what stood behind it") {
    ipv6_address prefix;
    prefix.octets = {0xfd, 1, 2, 3, 4, 5, 0, 6, 7, 7, 7, 7, 7, 7, 7, 7};
    CHECK(to_string(ipv6_host(prefix, 1)) == "fd01:203:405:6::1");
  }

  TEST_CASE("text is parsed in all its forms, and nothing else is") {
    for (const auto* text : {"fd01:203:405:6::1", "FD01:0203:405:6:0:0:0:1"})
      CHECK(to_string(ipv6_address::parse(text).value()) == "fd01:203:405:6::1");
    CHECK(to_string(ipv6_address::parse("::ffff:10.0.0.1").value()) == "::ffff:10.0.0.1");
    for (const std::string_view text : {"", ":", "fd00", "fd00::1%eth0", "fd00::/64", "fd00::1::2",
                                        "10.0.0.1", " fd00::1", "[fd00::1]", "fd00::12345"})
      CHECK_FALSE(ipv6_address::parse(text).has_value());
    CHECK_FALSE(ipv6_address::parse(std::string_view{"fd00::\0", 7}).has_value());
  }

} // TEST_SUITE
