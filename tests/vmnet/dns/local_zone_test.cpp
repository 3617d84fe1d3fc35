#include "vmnet/dns/local_zone.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/vmnet/dns/dns_text.hpp"
#include "vmnet/dns/dns_addresses.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using strings = std::vector<std::string>;

namespace {

ipv4_address ip(const char* text) {
  return ipv4_address::parse(text).value();
}
mac_address vm(std::uint64_t n) {
  return mac_address::from_integer(0x5254'0000'0000 + n);
}

constexpr unsigned no_error = 0, no_such_name = 3;

/// A network with leases, in a time that the test advances.
struct bench {
  explicit bench(const dns_config& dns = {}, const dhcp_config& dhcp = {},
                 const host_config& host = {})
      : table{resolve_dhcp(host, dhcp)}, zone{resolve_dns(host, dhcp, dns)} {}

  void lease(std::uint64_t client, const char* address, const char* name) {
    REQUIRE(table.bind(vm(client), ip(address), name, now) != lease_table::grant::refused);
  }
  /// Nothing: another server is to be asked.
  std::optional<shown_answer> ask(const char* name, dns_type type = dns_type::a) {
    const auto query = parsed_query(query_for(name, type));
    const auto answer = zone.answer(query, &table, now);
    if (!answer)
      return std::nullopt;
    const auto shown = show(*answer);
    CHECK(shown.authoritative);
    CHECK(shown.id == 77);
    CHECK(shown.answers.empty() == !shown.authorities.empty());
    return shown;
  }
  strings answers(const char* name, dns_type type = dns_type::a) {
    const auto answer = ask(name, type);
    REQUIRE_MESSAGE(answer, name);
    CHECK(answer->rcode == no_error);
    return answer->answers;
  }
  bool is_nodata(const char* name, dns_type type) {
    const auto answer = ask(name, type);
    return answer && answer->rcode == no_error && answer->answers.empty() &&
           answer->authorities.size() == 1;
  }
  bool is_nxdomain(const char* name, dns_type type = dns_type::a) {
    const auto answer = ask(name, type);
    return answer && answer->rcode == no_such_name && answer->authorities.size() == 1;
  }

  lease_table::time_point now{std::chrono::hours{1000}};
  lease_table table;
  local_zone zone;
};

dhcp_config reserving(std::vector<dhcp_reservation> reservations) {
  dhcp_config config;
  config.reservations = std::move(reservations);
  return config;
}

dns_config recording(std::vector<dns_record> records) {
  dns_config config;
  config.records = std::move(records);
  return config;
}

} // namespace

TEST_SUITE("local zone") {
  TEST_CASE("a VM has the name that it asked for its address with, in any letter case") {
    bench b;
    b.lease(1, "192.168.105.20", "Web");
    CHECK(b.answers("web.vm.internal") == strings{"web.vm.internal 10 A 192.168.105.20"});
    CHECK(b.answers("20.105.168.192.in-addr.arpa", dns_type::ptr) ==
          strings{"20.105.168.192.in-addr.arpa 10 PTR web.vm.internal"});
  }

  TEST_CASE(
      "gtv#235, gtv#729: a name that is not there is NXDOMAIN, a type that is not is NODATA") {
    bench b;
    b.lease(1, "192.168.105.20", "web");
    CHECK(b.is_nodata("web.vm.internal", dns_type::aaaa));
    CHECK(b.is_nodata("web.vm.internal", dns_type{65}));
    CHECK(b.is_nxdomain("db.vm.internal"));
    CHECK(b.is_nxdomain("db.vm.internal", dns_type::aaaa));
    CHECK(b.is_nxdomain("a.web.vm.internal"));
    CHECK(b.ask("db.vm.internal")->authorities ==
          strings{"vm.internal 5 SOA gateway.vm.internal hostmaster.vm.internal 5"});
    CHECK(b.is_nxdomain("21.105.168.192.in-addr.arpa", dns_type::ptr));
    CHECK(b.is_nodata("20.105.168.192.in-addr.arpa", dns_type::a));
    CHECK(b.is_nodata("105.168.192.in-addr.arpa", dns_type::ptr));
    CHECK(b.is_nodata("vm.internal", dns_type::a));
  }

  TEST_CASE("everything else is for another server") {
    bench b;
    for (const char* name : {"example.com", "internal", "xvm.internal", "vm.internal.example",
                             "1.104.168.192.in-addr.arpa", "168.192.in-addr.arpa", "."})
      CHECK_MESSAGE(!b.ask(name, dns_type::mx), name);
    CHECK_FALSE(b.ask("1.106.168.192.in-addr.arpa", dns_type::ptr));
  }

  TEST_CASE("a name ends with its lease, and may then be another VM's") {
    bench b;
    b.lease(1, "192.168.105.20", "web");
    b.lease(2, "192.168.105.10", "web");
    CHECK(b.answers("web.vm.internal") == strings{"web.vm.internal 10 A 192.168.105.10"});
    // The loser of a name has none.
    CHECK(b.is_nxdomain("20.105.168.192.in-addr.arpa", dns_type::ptr));
    b.lease(3, "192.168.105.5", "web");
    CHECK(b.answers("web.vm.internal") == strings{"web.vm.internal 10 A 192.168.105.10"});
    b.now += std::chrono::hours{23};
    b.lease(1, "192.168.105.20", "web");
    b.now += std::chrono::hours{2};
    CHECK(b.answers("web.vm.internal") == strings{"web.vm.internal 10 A 192.168.105.20"});
    b.table.release(vm(1), ip("192.168.105.20"), b.now);
    CHECK(b.is_nxdomain("web.vm.internal"));
  }

  TEST_CASE("a large table is not gone through for every change") {
    host_config host;
    host.subnet = {ip("10.0.0.0"), 8};
    host.gateway = ip("10.0.0.1");
    bench b{{}, {}, host};
    for (std::uint32_t i = 0; i < 600; ++i)
      b.lease(i + 1, to_string(ipv4_address{ip("10.1.0.0").value + i}).c_str(),
              ("n" + std::to_string(i)).c_str());
    CHECK(b.answers("n7.vm.internal") == strings{"n7.vm.internal 10 A 10.1.0.7"});
    b.lease(9000, "10.2.0.1", "late");
    b.table.release(vm(8), ip("10.1.0.7"), b.now);
    CHECK(b.is_nxdomain("late.vm.internal"));
    CHECK(b.is_nxdomain("n7.vm.internal")); // but nothing that is wrong
    b.now += lease_names::refresh_interval;
    CHECK(b.answers("late.vm.internal") == strings{"late.vm.internal 10 A 10.2.0.1"});
  }

  TEST_CASE("a reserved name wins, is there without the VM, and nobody takes it") {
    bench b{{}, reserving({{vm(7), ip("192.168.105.42"), "Web"}, {vm(8), {}, "db"}})};
    b.lease(1, "192.168.105.20", "web");
    CHECK(b.answers("web.vm.internal") == strings{"web.vm.internal 60 A 192.168.105.42"});
    CHECK(b.answers("42.105.168.192.in-addr.arpa", dns_type::ptr) ==
          strings{"42.105.168.192.in-addr.arpa 60 PTR web.vm.internal"});
    b.lease(2, "192.168.105.21", "db");
    CHECK(b.is_nxdomain("db.vm.internal"));
    b.lease(8, "192.168.105.22", "db");
    CHECK(b.answers("db.vm.internal") == strings{"db.vm.internal 10 A 192.168.105.22"});
  }

  TEST_CASE("the gateway has a name that no VM gets, by IPv4 and IPv6, there and back") {
    bench b;
    b.lease(1, "192.168.105.20", "gateway");
    CHECK(b.answers("gateway.vm.internal") == strings{"gateway.vm.internal 60 A 192.168.105.1"});
    CHECK(b.answers("gateway.vm.internal", dns_type::aaaa) ==
          strings{"gateway.vm.internal 60 AAAA fd00::2"});
    CHECK(b.answers("1.105.168.192.in-addr.arpa", dns_type::ptr) ==
          strings{"1.105.168.192.in-addr.arpa 60 PTR gateway.vm.internal"});
    const auto six = to_string(dns_name::reverse(*network_gateway6({})));
    CHECK(b.answers(six.c_str(), dns_type::ptr).size() == 1);
    CHECK(b.is_nxdomain(("3" + six.substr(1)).c_str(), dns_type::ptr));
  }

  TEST_CASE("records of every type are answered, and ANY gives all of a name") {
    bench b{recording({{"db", dns_type::a, "192.168.105.50"},
                       {"db", dns_type::aaaa, "fd00::50"},
                       {"db", dns_type::txt, "a database"},
                       {"vm.internal", dns_type::mx, "10 db.vm.internal"},
                       {"_pg._tcp.vm.internal", dns_type::srv, "0 5 5432 db.vm.internal"},
                       {"192.168.105.51", dns_type::ptr, "other.example.com"}})};
    CHECK(b.answers("db.vm.internal") == strings{"db.vm.internal 60 A 192.168.105.50"});
    CHECK(b.answers("db.vm.internal", dns_type::any).size() == 3);
    CHECK(b.answers("vm.internal", dns_type::mx) == strings{"vm.internal 60 MX 10 db.vm.internal"});
    CHECK(b.answers("_pg._tcp.vm.internal", dns_type::srv) ==
          strings{"_pg._tcp.vm.internal 60 SRV 0 5 5432 db.vm.internal"});
    CHECK(b.is_nodata("_tcp.vm.internal", dns_type::srv)); // it has a name below it
    CHECK(b.answers("50.105.168.192.in-addr.arpa", dns_type::ptr) ==
          strings{"50.105.168.192.in-addr.arpa 60 PTR db.vm.internal"});
    CHECK(b.answers("51.105.168.192.in-addr.arpa", dns_type::ptr) ==
          strings{"51.105.168.192.in-addr.arpa 60 PTR other.example.com"});
    CHECK(b.answers("vm.internal", dns_type::ns) ==
          strings{"vm.internal 60 NS gateway.vm.internal"});
    CHECK(b.answers("vm.internal", dns_type::soa).size() == 1);
  }

  TEST_CASE("lima#2417: a record outside of the domain hides neither siblings nor children") {
    bench b{recording({{"db.example.com", dns_type::a, "10.0.0.1"}})};
    CHECK(b.answers("db.example.com") == strings{"db.example.com 60 A 10.0.0.1"});
    CHECK(b.is_nodata("db.example.com", dns_type::aaaa)); // gtv#235 again: it does not leak
    for (const char* name : {"www.example.com", "example.com", "a.db.example.com", "com"})
      CHECK_MESSAGE(!b.ask(name, dns_type::mx), name);
  }

  TEST_CASE("lima#2417: a record in the domain hides no VM, nor other types of a VM's name") {
    bench b{recording({{"db", dns_type::a, "10.0.0.1"}, {"web", dns_type::txt, "a VM"}})};
    b.lease(1, "192.168.105.20", "web");
    CHECK(b.answers("web.vm.internal") == strings{"web.vm.internal 10 A 192.168.105.20"});
    CHECK(b.answers("web.vm.internal", dns_type::txt).size() == 1);
  }

  TEST_CASE("a CNAME is followed to the VM, and around no circle") {
    bench b{recording({{"www", dns_type::cname, "web.vm.internal"},
                       {"a", dns_type::cname, "b.vm.internal"},
                       {"b", dns_type::cname, "a.vm.internal"}})};
    b.lease(1, "192.168.105.20", "web");
    CHECK(b.answers("www.vm.internal") == strings{"www.vm.internal 60 CNAME web.vm.internal",
                                                  "web.vm.internal 10 A 192.168.105.20"});
    CHECK(b.answers("www.vm.internal", dns_type::cname).size() == 1);
    CHECK(b.answers("a.vm.internal").size() == 8);
  }

  TEST_CASE("a name of one label is taken as one of the network, and its addresses never leak") {
    bench b;
    b.lease(1, "192.168.105.20", "web");
    CHECK(b.answers("web") == strings{"web 10 A 192.168.105.20"});
    CHECK(b.is_nodata("web", dns_type::aaaa));
    CHECK(b.is_nxdomain("db"));
    CHECK_FALSE(b.ask("com", dns_type::ns)); // what a resolver in a VM needs to know
  }

  TEST_CASE("reverse names are ours as far as the subnet goes, whatever its prefix") {
    host_config host;
    host.subnet = {ip("10.16.0.0"), 12};
    host.gateway = ip("10.16.0.1");
    bench wide{{}, {}, host};
    CHECK(wide.is_nxdomain("9.9.31.10.in-addr.arpa", dns_type::ptr));
    CHECK(wide.is_nodata("31.10.in-addr.arpa", dns_type::soa) == false); // it has one
    CHECK_FALSE(wide.ask("9.9.32.10.in-addr.arpa", dns_type::ptr));
    CHECK_FALSE(wide.ask("10.in-addr.arpa", dns_type::ptr));
    host.subnet = {ip("192.168.105.64"), 27};
    host.gateway = ip("192.168.105.65");
    bench narrow{{}, {}, host};
    CHECK(narrow.is_nxdomain("95.105.168.192.in-addr.arpa", dns_type::ptr));
    CHECK_FALSE(narrow.ask("96.105.168.192.in-addr.arpa", dns_type::ptr));
    CHECK_FALSE(narrow.ask("105.168.192.in-addr.arpa", dns_type::ptr));
  }

  TEST_CASE("all names can be listed") {
    bench b{recording({{"db", dns_type::a, "192.168.105.50"}}),
            reserving({{vm(7), ip("192.168.105.42"), "kept"}})};
    b.lease(1, "192.168.105.20", "web");
    strings lines;
    for (const auto& one : b.zone.entries(&b.table, b.now))
      if (one.type == "A")
        lines.push_back(one.name + " " + one.value + " " + one.origin);
    std::ranges::sort(lines);
    CHECK(lines == strings{"db.vm.internal 192.168.105.50 configuration",
                           "gateway.vm.internal 192.168.105.1 gateway",
                           "kept.vm.internal 192.168.105.42 reservation",
                           "web.vm.internal 192.168.105.20 lease"});
  }

  TEST_CASE("without DHCP there are still the gateway, records and reservations") {
    local_zone zone{resolve_dns({}, reserving({{vm(7), ip("192.168.105.42"), "kept"}}), {})};
    const auto query = parsed_query(query_for("kept.vm.internal"));
    const auto answer = zone.answer(query, nullptr, {});
    REQUIRE(answer);
    CHECK(show(*answer).answers.size() == 1);
  }
}
