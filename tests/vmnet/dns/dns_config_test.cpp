#include "vmnet/dns/dns_config.hpp"

#include <ctime>

#include <doctest/doctest.h>

#include "tests/vmnet/dns/dns_text.hpp"
#include "vmnet/dns/dns_addresses.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

std::vector<std::string> mistakes_in(const dns_config& config) {
  std::vector<std::string> found;
  for (const auto& checked : check_dns_records(config))
    if (!checked)
      found.push_back(checked.error().text);
  return found;
}

} // namespace

TEST_SUITE("DNS configuration") {
  TEST_CASE("servers are written as addresses, with or without a port") {
    const auto read = [](const char* text) {
      const auto one = dns_endpoint::parse(text);
      return one ? one->address + " " + std::to_string(one->port) : "none";
    };
    CHECK(read("9.9.9.9") == "9.9.9.9 53");
    CHECK(read("127.0.0.1:5353") == "127.0.0.1 5353");
    CHECK(read("2620:fe::fe") == "2620:fe::fe 53");
    CHECK(read("[::1]:5353") == "::1 5353");
    CHECK(read("[::1]") == "::1 53");
    CHECK(read("fe80::1%eth0") == "fe80::1%eth0 53");
    for (const char* text :
         {"", "9.9.9", "9.9.9.9:", "9.9.9.9:0", "9.9.9.9:65536", "[::1", "[::1]x",
          "[::1]:", "[9.9.9.9]:53", "dns.example", "::1%eth0", "fe80::1%", "1::2::3",
          "9.9.9.9%eth0", "9.9.9.9,1.1.1.1", "fe80::1%a,b"})
      CHECK_MESSAGE(read(text) == "none", text);
    for (const char* text : {"9.9.9.9", "127.0.0.1:5353", "::1", "[::1]:5353"})
      CHECK(to_string(*dns_endpoint::parse(text)) == text);
  }

  TEST_CASE("resolv.conf: servers in order, once each, and lines that are none skipped") {
    CHECK(to_string(parse_resolv_conf("# nameserver 1.1.1.1\nsearch example.org\n"
                                      "nameserver 10.0.0.1\nnameserver\t10.0.0.2 # second\n"
                                      "nameserver10.0.0.9\nnameserver 10.0.0.1\r\n"
                                      "nameserver nonsense\n  nameserver 10.0.0.8\n"
                                      "nameserver fe80::1%eth0\nnameserver 10.0.0.3")) ==
          "10.0.0.1, 10.0.0.2, fe80::1%eth0, 10.0.0.3");
  }

  TEST_CASE("rootlesskit#438: a host with IPv6 resolvers only has them all") {
    CHECK(to_string(parse_resolv_conf("nameserver 2001:db8::1\nnameserver ::1\n")) ==
          "2001:db8::1, ::1");
  }

  TEST_CASE("resolv.conf: without a server it is the one on this machine, and there is a limit") {
    CHECK(to_string(parse_resolv_conf("")) == "127.0.0.1");
    CHECK(to_string(parse_resolv_conf("nameserver\nnameserver \n")) == "127.0.0.1");
    std::string many;
    for (int i = 0; i < 20; ++i)
      many += "nameserver 10.0.0." + std::to_string(i) + "\n";
    CHECK(parse_resolv_conf(many).size() == most_dns_servers);
  }

  TEST_CASE("records: names under the domain, whole names, addresses for PTR") {
    const auto name = [](const char* text, dns_type type) {
      const auto read = dns_record_name({text, type, ""}, "vm.internal");
      return read ? to_string(*read) : "none";
    };
    CHECK(name("db", dns_type::a) == "db.vm.internal");
    CHECK(name("DB.example.com", dns_type::a) == "db.example.com");
    CHECK(name("_http._tcp.vm.internal", dns_type::srv) == "_http._tcp.vm.internal");
    CHECK(name("192.168.105.20", dns_type::ptr) == "20.105.168.192.in-addr.arpa");
    CHECK(name("fd00::1", dns_type::ptr).ends_with(".d.f.ip6.arpa"));
    for (const char* text : {"", ".", "a b", "a..b"})
      CHECK_MESSAGE(name(text, dns_type::a) == "none", text);
  }

  TEST_CASE("records: values of each type") {
    const auto value = [](dns_type type, const std::string& text) {
      const auto read = dns_record_data({"x", type, text});
      return read ? read->text + " " + std::to_string(read->data.size()) : "none";
    };
    CHECK(value(dns_type::a, "1.2.3.4") == "1.2.3.4 4");
    CHECK(value(dns_type::a, "1.2.3") == "none");
    CHECK(value(dns_type::aaaa, "FD00::0:1") == "fd00::1 16");
    CHECK(value(dns_type::aaaa, "1.2.3.4") == "none");
    CHECK(value(dns_type::cname, "Web.vm.internal") == "web.vm.internal 17");
    CHECK(value(dns_type::cname, "a b") == "none");
    CHECK(value(dns_type::mx, " 10  mail.example ") == "10 mail.example 16");
    CHECK(value(dns_type::mx, "mail.example") == "none");
    CHECK(value(dns_type::srv, "0 5 80 web.vm.internal") == "0 5 80 web.vm.internal 23");
    CHECK(value(dns_type::srv, "0 5 65536 web.vm.internal") == "none");
    CHECK(value(dns_type::txt, "") == " 1");
    CHECK(value(dns_type::txt, std::string(300, 'x')) == std::string(300, 'x') + " 302");
    CHECK(value(dns_type::txt, std::string(5000, 'x')) == "none");
  }

  TEST_CASE("a CNAME stands alone, and leads to a name of the network or of another record") {
    dns_config config;
    const dns_record alias{"www", dns_type::cname, "web.vm.internal"};
    config.records = {alias, alias};
    CHECK(mistakes_in(config).empty());
    config.records = {alias, {"ext", dns_type::cname, "db.example.com"}};
    REQUIRE(mistakes_in(config).size() == 1);
    CHECK(mistakes_in(config)[0].find("db.example.com is neither") != std::string::npos);
    config.records.push_back({"db.example.com", dns_type::a, "10.0.0.1"});
    CHECK(mistakes_in(config).empty());
    config.records.push_back({"www.vm.internal", dns_type::txt, "x"});
    REQUIRE(mistakes_in(config).size() == 1);
    CHECK(mistakes_in(config)[0].find("www.vm.internal has") != std::string::npos);
  }

  TEST_CASE("hostile: as many CNAMEs as there may be, in a chain or to one name, take no time") {
    constexpr auto most = dns_config::most_records;
    dns_config config;
    const auto is_checked_soon = [&] {
      const auto begin = std::clock(); // of this process: others on the machine do not count
      CHECK(mistakes_in(config).empty());
      CHECK(std::clock() - begin < CLOCKS_PER_SEC);
    };
    const auto name_of = [](std::size_t i) { return "c" + std::to_string(i) + ".example.com"; };
    for (std::size_t i = 0; i + 1 < most; ++i)
      config.records.push_back({name_of(i), dns_type::cname, name_of(i + 1)});
    config.records.push_back({name_of(most - 1), dns_type::a, "10.0.0.1"});
    is_checked_soon();
    for (std::size_t i = 0; i + 1 < most; ++i)
      config.records[i].value = name_of(most - 1);
    is_checked_soon();
  }

  TEST_CASE("a domain has two labels or more: a whole top-level domain is nobody's") {
    CHECK(check_dns_domain("vm.internal"));
    for (const char* text : {"", "com", "vm.internal.", "a b.c"})
      CHECK_MESSAGE(!check_dns_domain(text), text);
  }

  TEST_CASE("where VMs ask: the gateway, and in a user network where libslirp's forwarder was") {
    host_config host;
    CHECK(dns_server_addresses(host).size() == 6);
    CHECK(dns_server_macs(host).size() == 3);
    host.ipv6 = false;
    CHECK(dns_server_addresses(host) ==
          std::vector{packet_address{host.gateway}, packet_address{host.subnet.at(3)}});
    host.mode = host_mode::shared;
    host.ipv6 = true;
    CHECK(dns_server_addresses(host).size() == 2);
    CHECK(dns_server_macs(host).empty());
    CHECK(serves_dns(host, {}));
    host.mode = host_mode::bridged;
    CHECK_FALSE(serves_dns(host, {}));
  }
}
