#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/render_config.hpp"
#include "tests/app/config_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using strings = std::vector<std::string>;

namespace {

/// A right network whose `[network.dns]`, which begins in line 4, has these lines.
std::string dns_with(const std::string& lines) {
  return "[[network]]\n[[network.listen]]\npath = \"/run/a.sock\"\n[network.dns]\n" + lines + "\n";
}

constexpr auto complete = R"(enabled = true
domain = "lab.example"
upstream = ["9.9.9.9", "127.0.0.1:5353", "2620:fe::fe"]
cache_size = 0
[[network.dns.record]]
name = "db"
type = "a"
value = "192.168.105.50"
[[network.dns.record]]
name = "_http._tcp.lab.example"
type = "SRV"
value = "0 5 80 db.lab.example")";

} // namespace

TEST_CASE("DNS: every setting arrives") {
  const auto network = parsed(dns_with(complete)).networks[0];
  const auto& dns = network.dns;
  CHECK(dns.enabled);
  CHECK(dns.domain == "lab.example");
  CHECK(network.host.dns_domain == "lab.example");
  CHECK(dns.cache_size == 0);
  REQUIRE(dns.upstream);
  CHECK(to_string(*dns.upstream) == "9.9.9.9, 127.0.0.1:5353, 2620:fe::fe");
  CHECK(dns.records == std::vector<dns_record>{
                           {"db", dns_type::a, "192.168.105.50"},
                           {"_http._tcp.lab.example", dns_type::srv, "0 5 80 db.lab.example"}});
}

TEST_CASE("DNS: what --check prints, parsed again, is the same") {
  for (const auto* lines : {complete, "enabled = false", "upstream = []", ""}) {
    const auto text = render_config(parsed(dns_with(lines)));
    INFO(text);
    CHECK(render_config(parsed(text)) == text);
  }
  const auto text = render_config(parsed(dns_with("upstream = []")));
  CHECK(contains(text, "[network.dns]\nenabled = true\ndomain = \"vm.internal\"\nupstream = []\n"
                       "cache_size = 1000\n"));
  CHECK(contains(text, "\n# domain = \"vm.internal\"\n")); // of DHCP
}

TEST_CASE("DNS: without it VMs of a user network are told libslirp's forwarder, others nobody") {
  const auto dns_of = [](const std::string& mode) {
    return render_config(parsed("[[network]]\n" + mode +
                                "\n[[network.listen]]\npath = \"/a\"\n[network.dns]\n"
                                "enabled = false\n"));
  };
  CHECK(contains(dns_of(""), "\ndns = [\"192.168.105.3\"]\n"));
  CHECK(contains(dns_of("mode = \"host\""), "\ndns = []\n"));
  CHECK_FALSE(contains(dns_of(""), "# domain"));
}

TEST_CASE("DNS: all mistakes are named at once, where they stand") {
  CHECK(
      places(dns_with("enabled = 1\ndomain = \"com\"\nupstream = [\"9.9.9.9\", \"dns.example\"]\n"
                      "cache_size = -1\nrecords = []\n[[network.dns.record]]\nname = \"a b\"\n"
                      "type = \"A\"\nvalue = \"1.2.3\"\n[[network.dns.record]]\ntype = \"NAPTR\"\n"
                      "value = \"\"")) ==
      strings{"5:11 network.dns.enabled", "6:10 network.dns.domain", "7:24 network.dns.upstream",
              "8:14 network.dns.cache_size", "9:1 network.dns.records",
              "11:8 network.dns.record.name", "13:9 network.dns.record.value",
              "14:1 network.dns.record.name", "15:8 network.dns.record.type"});
}

TEST_CASE("DNS: a CNAME that leads outside is refused with the reason") {
  const auto text = mistakes(dns_with("[[network.dns.record]]\nname = \"www\"\ntype = \"CNAME\"\n"
                                      "value = \"www.example.com\""));
  CHECK(contains(text, "www.example.com is neither"));
}

TEST_CASE("DNS: a network without a gateway of ours cannot have it") {
  CHECK(places("[[network]]\nmode = \"isolated\"\n[[network.listen]]\npath = \"/a\"\n"
               "[network.dns]\nenabled = true\n") == strings{"6:11 network.dns.enabled"});
  parsed("[[network]]\nmode = \"isolated\"\n[[network.listen]]\npath = \"/a\"\n"
         "[network.dns]\nenabled = false\n");
}
