#include <doctest/doctest.h>

#include "vmnet/user_addresses.hpp"

using namespace vmswitch;

namespace {

host_config with(const char* subnet, std::uint32_t gateway_number) {
  host_config config;
  config.subnet = ipv4_subnet::parse(subnet).value();
  config.gateway = config.subnet.at(gateway_number);
  return config;
}

std::string refusal(const host_config& config) {
  const auto checked = check_host_config(config);
  return checked ? "" : checked.error().text;
}

bool names(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_SUITE("addresses of a user network") {
  TEST_CASE("the name server is the third address, or the fourth if the third is the gateway") {
    CHECK(to_string(nameserver_for(with("192.168.105.0/24", 1))) == "192.168.105.3");
    CHECK(to_string(nameserver_for(with("192.168.105.0/24", 3))) == "192.168.105.4");
    CHECK(to_string(nameserver_for(with("10.77.0.0/16", 4))) == "10.77.0.3");
  }

  TEST_CASE("MAC addresses follow from addresses") {
    CHECK(to_string(user_mac_for({0xc0a86901})) == "52:55:c0:a8:69:01");
  }

  TEST_CASE("IPv6 needs an mtu of 1280") {
    auto config = with("192.168.105.0/24", 1);
    config.mtu = 1280;
    CHECK(has_ipv6(config));
    config.mtu = 1279;
    CHECK(!has_ipv6(config));
    config.mtu = 1500;
    config.ipv6 = false;
    CHECK(!has_ipv6(config));
  }
}

TEST_SUITE("host configuration") {
  TEST_CASE("the default is fine, and so are both limits") {
    CHECK(refusal(host_config{}) == "");
    CHECK(refusal(with("10.0.0.0/8", 1)) == "");
    CHECK(refusal(with("192.168.9.32/27", 1)) == "");
    for (const std::uint32_t mtu : {576U, 65520U}) {
      host_config config;
      config.mtu = mtu;
      CHECK(refusal(config) == "");
    }
  }

  TEST_CASE("what is wrong is named, with what would be right") {
    CHECK(names(refusal(with("10.0.0.0/7", 1)), "between /8 and /27"));
    CHECK(names(refusal(with("10.0.0.0/28", 1)), "between /8 and /27"));
    CHECK(names(refusal(with("192.168.105.0/24", 0)), "use 192.168.105.1"));
    CHECK(names(refusal(with("192.168.105.0/24", 255)), "use 192.168.105.1"));
    CHECK(names(refusal(with("192.168.105.0/24", 256)), "use 192.168.105.1"));
    for (const auto* subnet : {"127.0.0.0/8", "0.0.0.0/8", "224.0.0.0/8", "240.0.0.0/8"})
      CHECK(names(refusal(with(subnet, 1)), "private one"));
    auto bits = with("192.168.105.0/24", 1);
    bits.subnet.network = bits.subnet.at(5);
    CHECK(names(refusal(bits), "write 192.168.105.0/24"));
    auto wild = with("192.168.105.0/24", 1);
    wild.subnet.prefix_length = 200;
    CHECK(names(refusal(wild), "between /8 and /27"));
    for (const std::uint32_t mtu : {0U, 575U, 65521U}) {
      host_config config;
      config.mtu = mtu;
      CHECK(names(refusal(config), "between 576 and 65520"));
    }
  }

  TEST_CASE("an isolated network needs no addresses, but an mtu") {
    auto config = with("10.0.0.0/28", 0);
    config.mode = host_mode::isolated;
    CHECK(refusal(config) == "");
    config.mtu = 100;
    CHECK(names(refusal(config), "mtu 100"));
  }
}
