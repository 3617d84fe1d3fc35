#include "vmnet/tap/nat_rules.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

host_config shared() {
  host_config config;
  config.mode = host_mode::shared;
  config.ipv6 = false;
  return config;
}

const forwarding_plan plan{{{"ipv4", "tap0", "forwarding", "0", "1"},
                            {"ipv4", "eth0", "forwarding", "0", "1"},
                            {"ipv6", "eth0", "accept_ra", "1", "2"},
                            {"ipv6", "all", "forwarding", "0", "1"}},
                           {"eth0"},
                           {"eth0", "eth1"}};

} // namespace

TEST_SUITE("nat_rules") {

  TEST_CASE("the rules of a shared network, word for word") {
    CHECK(nat_rules(shared(), "tap0", plan) == R"(add table inet vmswitch-tap0
delete table inet vmswitch-tap0
table inet vmswitch-tap0 {
  set was_ipv4_forwarding_0_1 {
    type ifname
    elements = { "tap0", "eth0" }
  }
  set was_ipv6_accept_ra_1_2 {
    type ifname
    elements = { "eth0" }
  }
  set was_ipv6_forwarding_all_0_1 {
    type ifname
    elements = { "all" }
  }
  set closed4 {
    type ifname
    elements = { "eth0" }
  }
  set closed6 {
    type ifname
    elements = { "eth0", "eth1" }
  }
  chain forward {
    type filter hook forward priority filter; policy accept;
    iifname "tap0" ip saddr 192.168.105.0/24 accept
    iifname "tap0" drop
    oifname "tap0" ct state established,related accept
    oifname "tap0" drop
    ct state established,related accept
    ct status dnat accept
    meta nfproto ipv4 iifname @closed4 drop
    meta nfproto ipv6 iifname @closed6 drop
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    iifname "tap0" oifname != "tap0" ip saddr 192.168.105.0/24 masquerade
  }
}
)");
  }

  TEST_CASE("with IPv6 the prefix is forwarded and translated as well") {
    auto config = shared();
    config.ipv6 = true;
    const auto rules = nat_rules(config, "tap0", {});
    CHECK(rules.find("iifname \"tap0\" ip6 saddr fd") != std::string::npos);
    CHECK(rules.find("::/64 masquerade") != std::string::npos);
  }

  TEST_CASE("an IPv6 source that is not of the network is dropped and counted in every mode") {
    for (const auto mode : {host_mode::host, host_mode::shared}) {
      auto config = shared();
      config.mode = mode;
      config.ipv6 = true;
      config.ipv6_prefix = ipv6_address::parse("fd12:3456:789a:1::");
      CHECK(nat_rules(config, "tap0", {}).find(R"(
  chain prerouting {
    type filter hook prerouting priority raw; policy accept;
    iifname "tap0" ip6 saddr != { fd12:3456:789a:1::/64, fe80::/10, :: } counter drop
  }
)") != std::string::npos);
      config.ipv6 = false;
      CHECK(nat_rules(config, "tap0", {}).find("prerouting") == std::string::npos);
    }
  }

  TEST_CASE("a host-only network has a fence, and no translation") {
    auto config = shared();
    config.mode = host_mode::host;
    const auto rules = nat_rules(config, "tap0", {});
    CHECK(rules.find("iifname \"tap0\" drop") != std::string::npos);
    CHECK(rules.find("oifname \"tap0\" drop") != std::string::npos);
    CHECK(rules.find("accept\n") == std::string::npos);
    CHECK(rules.find("masquerade") == std::string::npos);
  }

  TEST_CASE("what was done to someone's device is remembered with its order, and read back") {
    const std::vector<device_step> undo{{device_step::what::mtu, "1400"},
                                        {device_step::what::address4, "10.0.0.1/8", true}};
    CHECK(nat_rules(shared(), "tap0", {}, undo).find(R"(
  set undo {
    type mark
    elements = { 0 comment "mtu 1400", 1 comment "address4 10.0.0.1/8" }
  }
)") != std::string::npos);
    CHECK(nat_rules(shared(), "tap0", {}).find("undo") == std::string::npos);
    CHECK(undo_in(R"({"nftables":[{"metainfo":{}},{"table":{"name":"vmswitch-tap0"}},
        {"set":{"name":"other","elem":[{"elem":{"val":2,"comment":"up"}}]}},
        {"set":{"name":"undo","elem":[{"elem":{"val":1,"comment":"address4 10.0.0.1/8"}},
                {"elem":{"val":0,"comment":"mtu 1400"}}, 3, "up", {"elem":7},
                {"elem":{"val":"x","comment":"up"}}, {"elem":{"val":5,"comment":"reboot"}},
                {"elem":{"val":6}}]}}]})") == undo);
    CHECK(undo_in("{").empty());
  }

  TEST_CASE("a device with a name that could be read as a rule is left out") {
    const forwarding_plan odd{{}, {"eth0", "a\"b", "x y", ""}, {}};
    CHECK(nat_rules(shared(), "tap0", odd).find("elements = { \"eth0\" }") != std::string::npos);
  }

  TEST_CASE("tables of ours are found among those of others") {
    CHECK(devices_in(R"({"nftables":[{"metainfo":{"version":"1"}},
        {"table":{"family":"inet","name":"vmswitch-vms-a","handle":1}},
        {"table":{"family":"ip","name":"vmswitch-vms-b","handle":2}},
        {"table":{"family":"inet","name":"filter","handle":3}},
        {"table":{"family":"inet","name":"vmswitch-../x","handle":3}},
        {"table":{"family":"inet","name":7}},{"table":"x"},5]})") ==
          std::vector<std::string>{"vms-a"});
  }

  TEST_CASE("the changes that a killed daemon recorded are read back, in order") {
    const auto found = changes_in(R"({"nftables":[{"metainfo":{}},
        {"set":{"family":"inet","name":"was_ipv4_forwarding_0_1","table":"vmswitch-tap0",
                "type":"ifname","handle":1,"elem":["tap0","eth0"]}},
        {"set":{"name":"was_ipv6_accept_ra_1_2","elem":["eth0"]}},
        {"set":{"name":"was_ipv6_forwarding_all_0_1","elem":["all"]}},
        {"set":{"name":"closed4","elem":["eth0"]}}]})");
    CHECK(found == plan.changes);
  }

  TEST_CASE("rules are counted, so that it shows when somebody has removed some") {
    CHECK(rules_in(R"({"nftables":[{"metainfo":{}},{"table":{"name":"vmswitch-tap0"}},
        {"chain":{"name":"forward"}},{"rule":{"chain":"forward","expr":[]}},
        {"rule":{"chain":"forward","expr":[{"drop":null}]}}]})") == 2);
    CHECK(rules_in(R"({"nftables":[{"table":{"name":"rule"}},["rule"],7]})") == 0);
    CHECK(rules_in("") == 0);
  }

  TEST_CASE("hostile: a table that somebody else made cannot have other settings written") {
    for (const auto* json :
         {R"({"nftables":[{"set":{"name":"was_ipv4_route_localnet_1_0","elem":["eth0"]}}]})",
          R"({"nftables":[{"set":{"name":"was_ipv4_forwarding_0_1","elem":["../x","..","a/b"]}}]})",
          R"({"nftables":[{"set":{"name":"was_","elem":["eth0"]}}]})",
          R"({"nftables":[{"set":{"name":"was_ipv4_forwarding_0_1","elem":[{"prefix":1},7]}}]})",
          R"({"nftables":{"set":1}})", R"({"nftables":)", "", "[]"}) {
      CAPTURE(json);
      CHECK(changes_in(json).empty());
      CHECK(devices_in(json).empty());
    }
  }

} // TEST_SUITE
