#include "vmnet/dhcp/dhcp_config.hpp"

#include <doctest/doctest.h>

#include "tests/vmnet/dhcp/dhcp_bench.hpp"
#include "vmnet/user_addresses.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

host_config with(const char* subnet, std::uint32_t gateway_number) {
  host_config config;
  config.subnet = ipv4_subnet::parse(subnet).value();
  config.gateway = config.subnet.at(gateway_number);
  return config;
}

} // namespace

TEST_SUITE("dhcp configuration") {
  TEST_CASE("the usual range is the widest row without gateway and name server") {
    const auto range = [](const char* subnet, std::uint32_t gateway) {
      const auto found = default_dhcp_range(with(subnet, gateway));
      return to_string(found.first) + "-" + to_string(found.last);
    };
    CHECK(range("192.168.105.0/24", 1) == "192.168.105.4-192.168.105.254");
    CHECK(range("192.168.105.0/24", 254) == "192.168.105.4-192.168.105.253");
    CHECK(range("192.168.105.0/24", 100) == "192.168.105.101-192.168.105.254");
    CHECK(range("10.0.0.0/8", 1) == "10.0.0.4-10.255.255.254");
    CHECK(range("192.168.9.32/27", 15) == "192.168.9.48-192.168.9.62");
  }

  TEST_CASE("in every subnet it holds hosts only, a third of them at least") {
    for (const auto* subnet : {"192.168.9.32/27", "192.168.9.64/26", "192.168.9.0/24"}) {
      auto config = with(subnet, 1);
      const auto hosts = config.subnet.broadcast().value - config.subnet.network.value - 1;
      for (std::uint32_t n = 1; n <= hosts; ++n) {
        config.gateway = config.subnet.at(n);
        CAPTURE(to_string(config.gateway));
        REQUIRE(check_host_config(config));
        const auto range = default_dhcp_range(config);
        CHECK(check_dhcp_range(config, range));
        CHECK_FALSE(range.contains(config.gateway));
        CHECK_FALSE(range.contains(nameserver_for(config)));
        CHECK(range.size() * 3 >= hosts);
      }
    }
  }

  TEST_CASE("a range that is wrong is refused, with one that is right") {
    const host_config host;
    const auto refusal = [&](const char* first, const char* last) {
      const auto right = check_dhcp_range(host, {ip(first), ip(last)});
      return right ? std::string{} : right.error().text;
    };
    CHECK(refusal("192.168.105.100", "192.168.105.100").empty());
    CHECK(refusal("192.168.105.1", "192.168.105.254").empty()); // the gateway is left out
    struct ends {
      const char *first, *last;
    };
    for (const auto& wrong : {ends{"192.168.105.0", "192.168.105.9"},
                              {"192.168.105.9", "192.168.105.255"},
                              {"10.0.0.1", "10.0.0.9"},
                              {"192.168.105.9", "192.168.105.8"},
                              {"192.168.105.3", "192.168.105.3"}}) {
      CAPTURE(wrong.first);
      CHECK(refusal(wrong.first, wrong.last).find("[\"192.168.105.4\", \"192.168.105.254\"]") !=
            std::string::npos);
    }
  }

  TEST_CASE("host names and domain names are those of RFC 1123") {
    for (const auto* name : {"a", "web-1", "9", "ABC"})
      CHECK(check_host_name(name));
    for (const auto* name : {"", "-a", "a-", "a.b", "a_b", "a b", "\xc3\xa4", "a\n"})
      CHECK_FALSE(check_host_name(name));
    CHECK_FALSE(check_host_name(std::string(64, 'a')));
    for (const auto* name : {"vm.internal", "internal", "a.b.c"})
      CHECK(check_domain_name(name));
    for (const auto* name : {"", ".", "a.", ".a", "a..b", "-.b"})
      CHECK_FALSE(check_domain_name(name));
    std::string long_name = "a";
    while (long_name.size() < 254)
      long_name += ".a";
    CHECK_FALSE(check_domain_name(long_name));
  }

  TEST_CASE(
      "DNS server and domain are those of our DNS server, unless it is off or others are told") {
    host_config host;
    CHECK(resolve_dhcp(host, {}).dns == std::vector{host.gateway});
    CHECK(resolve_dhcp(host, {}).domain == "vm.internal");
    dhcp_config other;
    other.domain = "example.org";
    CHECK(resolve_dhcp(host, other).domain == "example.org");
    host.dns_domain.clear();
    CHECK(resolve_dhcp(host, {}).dns == std::vector{nameserver_for(host)});
    CHECK(resolve_dhcp(host, {}).domain.empty());
    host.mode = host_mode::shared;
    CHECK(resolve_dhcp(host, {}).dns.empty());
  }
}
