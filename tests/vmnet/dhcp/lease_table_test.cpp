#include <set>

#include "tests/vmnet/dhcp/dhcp_bench.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;
using grant = lease_table::grant;

namespace {

dhcp_settings settings_with(const char* first, const char* last) {
  return resolve_dhcp({}, with_range(first, last));
}

constexpr lease_table::time_point start{1000h};

} // namespace

TEST_SUITE("lease table") {
  TEST_CASE("network, broadcast, gateway and name server are never lent, in whatever range") {
    lease_table table{settings_with("192.168.105.1", "192.168.105.6")};
    std::set<ipv4_address> given;
    for (std::uint64_t n = 1; n <= 6; ++n)
      if (const auto offered = table.offer(vm(n), {}, start))
        given.insert(*offered);
    CHECK(given == std::set{ip("192.168.105.2"), ip("192.168.105.4"), ip("192.168.105.5"),
                            ip("192.168.105.6")});
    auto all = resolve_dhcp({}, {});
    all.range = {ip("192.168.105.0"), ip("192.168.105.255")};
    lease_table careless{all};
    for (const auto* never : {"192.168.105.0", "192.168.105.1", "192.168.105.3", "192.168.105.255"})
      CHECK(careless.bind(vm(1), ip(never), "", start) == grant::refused);
  }

  TEST_CASE("what a client asks for it gets, if it is free") {
    lease_table table{settings_with("192.168.105.10", "192.168.105.99")};
    CHECK(table.offer(vm(1), ip("192.168.105.42"), start) == ip("192.168.105.42"));
    CHECK(table.offer(vm(2), ip("192.168.105.42"), start) != ip("192.168.105.42"));
    CHECK(table.offer(vm(3), ip("192.168.105.100"), start) != ip("192.168.105.100"));
    CHECK(table.offer(vm(1), ip("192.168.105.50"), start) == ip("192.168.105.42")); // its last
  }

  TEST_CASE("a MAC address has one lease, and what it had is remembered when that has ended") {
    lease_table table{settings_with("192.168.105.10", "192.168.105.99")};
    CHECK(table.bind(vm(1), ip("192.168.105.42"), "", start) == grant::leased);
    CHECK(table.bind(vm(1), ip("192.168.105.42"), "", start) == grant::extended);
    CHECK(table.bind(vm(1), ip("192.168.105.43"), "", start) == grant::leased);
    CHECK(table.find(ip("192.168.105.42")) == nullptr);
    const auto much_later = start + 24h * 365;
    CHECK(table.bind(vm(2), ip("192.168.105.43"), "", much_later) == grant::refused);
    CHECK(table.offer(vm(1), {}, much_later) == ip("192.168.105.43"));
  }

  TEST_CASE("a reservation goes before what others remember of the address") {
    auto settings = settings_with("192.168.105.10", "192.168.105.99");
    lease_table before{settings};
    before.bind(vm(1), ip("192.168.105.42"), "", start);
    settings.reservations = {{vm(2), ip("192.168.105.42"), ""}};
    lease_table table{settings};
    CHECK_FALSE(table.restore(*before.find(vm(1))));
    CHECK(table.offer(vm(2), {}, start) == ip("192.168.105.42"));
    CHECK(table.offer(vm(1), ip("192.168.105.42"), start) != ip("192.168.105.42"));
  }

  TEST_CASE("a reserved address that somebody else uses is not lent: the client gets another") {
    auto settings = settings_with("192.168.105.10", "192.168.105.99");
    settings.reservations = {{vm(1), ip("192.168.105.200"), ""}};
    lease_table table{settings};
    CHECK(table.saw(ip("192.168.105.200"), vm(9), start));
    const auto offered = table.offer(vm(1), {}, start);
    REQUIRE(offered);
    CHECK(settings.range.contains(*offered));
    CHECK(table.bind(vm(1), *offered, "", start) == grant::leased);
    const auto later = start + lease_table::in_use_time;
    CHECK(table.bind(vm(1), *offered, "", later) == grant::refused); // it is to move
    CHECK(table.offer(vm(1), {}, later) == ip("192.168.105.200"));
  }

  TEST_CASE("one that goes on after its lease has ended is not cut off by others") {
    lease_table table{settings_with("192.168.105.10", "192.168.105.10")};
    table.bind(vm(1), ip("192.168.105.10"), "", start);
    const auto later = start + 24h;
    CHECK_FALSE(table.saw(ip("192.168.105.10"), vm(1), later));
    CHECK_FALSE(table.offer(vm(2), {}, later));
    CHECK(table.bind(vm(1), ip("192.168.105.10"), "", later) != grant::refused);
  }

  TEST_CASE("the version changes with what is worth remembering, and with nothing else") {
    lease_table table{settings_with("192.168.105.10", "192.168.105.99")};
    const auto offered = *table.offer(vm(1), {}, start);
    table.saw(ip("192.168.105.77"), vm(9), start);
    table.forget_offer(vm(1));
    CHECK(table.version() == 0);
    table.bind(vm(1), offered, "", start);
    const auto bound = table.version();
    CHECK(bound != 0);
    table.saw(offered, vm(1), start);
    CHECK(table.version() == bound);
    table.release(vm(1), offered, start);
    CHECK(table.version() != bound);
  }

  TEST_CASE("new settings: a lease goes on where it may, and keeps its time") {
    auto settings = settings_with("192.168.105.10", "192.168.105.99");
    lease_table before{settings};
    before.bind(vm(1), ip("192.168.105.42"), "web", start);
    before.bind(vm(2), ip("192.168.105.43"), "", start);
    before.release(vm(2), ip("192.168.105.43"), start);
    before.saw(ip("192.168.105.50"), vm(9), start);
    settings.range = {ip("192.168.105.40"), ip("192.168.105.60")};
    settings.lease_time = 60s;
    lease_table table{settings};
    table.inherit(before, start + 1h);
    REQUIRE(table.find(vm(1)) != nullptr);
    CHECK(table.find(vm(1))->name == "web");
    CHECK(table.find(vm(1))->until == start + 24h);
    CHECK(table.bind(vm(1), ip("192.168.105.42"), "web", start + 1h) == grant::extended);
    CHECK(table.offer(vm(2), {}, start + 1h) == ip("192.168.105.43")); // remembered
    CHECK(table.bind(vm(3), ip("192.168.105.50"), "", start + 1h) == grant::refused);
    CHECK(table.version() > before.version());
  }

  TEST_CASE("new settings: an address out of the range is refused at the next renewal") {
    auto settings = settings_with("192.168.105.10", "192.168.105.99");
    lease_table before{settings};
    before.bind(vm(1), ip("192.168.105.42"), "", start);
    before.bind(vm(2), ip("192.168.105.43"), "", start);
    before.release(vm(2), ip("192.168.105.43"), start);
    settings.range = {ip("192.168.105.50"), ip("192.168.105.99")};
    lease_table table{settings};
    table.inherit(before, start);
    CHECK(table.find(ip("192.168.105.42")) != nullptr); // it may still be in use
    CHECK(table.find(ip("192.168.105.43")) == nullptr);
    CHECK(table.bind(vm(1), ip("192.168.105.42"), "", start) == grant::refused);
    const auto offered = table.offer(vm(1), {}, start);
    REQUIRE(offered);
    CHECK(settings.range.contains(*offered));
    CHECK(table.find(ip("192.168.105.42")) == nullptr);
  }

  TEST_CASE("new settings: an address reserved for another is kept until its holder has moved") {
    auto settings = settings_with("192.168.105.10", "192.168.105.99");
    lease_table before{settings};
    before.bind(vm(1), ip("192.168.105.42"), "", start);
    settings.reservations = {{vm(2), ip("192.168.105.42"), ""}};
    lease_table table{settings};
    table.inherit(before, start);
    CHECK(table.offer(vm(2), {}, start) != ip("192.168.105.42")); // never with two at a time
    CHECK(table.bind(vm(1), ip("192.168.105.42"), "", start) == grant::refused);
    table.offer(vm(1), {}, start);
    CHECK(table.offer(vm(2), {}, start) == ip("192.168.105.42"));
  }
}
