#include "tests/vmnet/dhcp/dhcp_bench.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;
using what = dhcp_event::what;

TEST_SUITE("dhcp server: who gets which address") {
  TEST_CASE("reservations: by MAC address, outside of the range too, and for nobody else") {
    auto config = with_range("192.168.105.10", "192.168.105.11");
    config.reservations = {{vm(1), ip("192.168.105.10"), ""}, {vm(2), ip("192.168.105.200"), ""}};
    dhcp_bench b{config};
    CHECK(b.lease(vm(3)) == ip("192.168.105.11"));
    CHECK_FALSE(b.lease(vm(4))); // .10 is kept, though nobody has it
    CHECK(b.reboot(vm(4), ip("192.168.105.10"))->kind == dhcp_message::nak);
    CHECK(b.reboot(vm(4), ip("192.168.105.200"))->kind == dhcp_message::nak);
    CHECK(b.lease(vm(1)) == ip("192.168.105.10"));
    CHECK(b.lease(vm(2)) == ip("192.168.105.200"));
    CHECK(b.reboot(vm(2), ip("192.168.105.11"))->kind == dhcp_message::nak);
  }

  TEST_CASE("a range of 5 keeps serving 50 short-lived VMs that never say goodbye") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.14")};
    for (std::uint64_t n = 1; n <= 50; ++n) {
      CAPTURE(n);
      auto given = b.lease(vm(n));
      if (!given) {
        CHECK(n > 5);
        CHECK(b.event->kind == what::exhausted);
        CHECK_FALSE(b.probes.empty());
        b.now += 3s; // as clients wait before they ask again
        given = b.lease(vm(n));
      }
      CHECK(given);
    }
    CHECK(b.server.leases().size() == 5);
  }

  TEST_CASE("of a full range only those lose their lease that do not answer") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.12")};
    std::vector<ipv4_address> given;
    for (std::uint64_t n = 1; n <= 3; ++n) {
      given.push_back(*b.lease(vm(n)));
      b.now += 10s;
    }
    CHECK_FALSE(b.lease(vm(4)));
    REQUIRE(b.probes.size() == 3);
    CHECK(b.probes[0].target == given[0]); // least recently used first
    CHECK(b.probes[0].sender == b.host.gateway);
    CHECK(b.probes[0].sender_mac == b.gateway_mac);
    b.now += 10ms;
    b.arp_from(vm(1), given[0]);
    b.arp_from(vm(3), given[2]);
    CHECK_FALSE(b.lease(vm(4))); // the others have not had their time
    b.now += 3s;
    CHECK(b.lease(vm(4)) == given[1]);
    CHECK(b.renew(vm(2), given[1])->kind == dhcp_message::nak);
    CHECK(b.renew(vm(1), given[0])->kind == dhcp_message::ack);
    b.now += 3s;
    b.arp_from(vm(4), given[1]);
    CHECK_FALSE(b.lease(vm(5)));
  }

  TEST_CASE("an ended lease goes to others before anyone is asked, the oldest first") {
    auto config = with_range("192.168.105.10", "192.168.105.12");
    config.lease_time = 100s;
    dhcp_bench b{config};
    const auto first = *b.lease(vm(1));
    b.now += 10s;
    const auto second = *b.lease(vm(2));
    b.now += 10s;
    b.lease(vm(3));
    b.now += 85s; // the first has ended
    CHECK(b.lease(vm(4)) == first);
    b.now += 10s;
    CHECK(b.lease(vm(5)) == second);
  }

  TEST_CASE("offers that nobody takes up hold no address for long") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.14")};
    for (std::uint64_t n = 1; n <= 5; ++n)
      CHECK(b.discover(vm(n)));
    CHECK_FALSE(b.discover(vm(6)));
    b.now += lease_table::offer_time;
    CHECK(b.lease(vm(6)));
  }

  TEST_CASE("an address that is seen in use is not lent; who only asks does not use it") {
    dhcp_bench b{with_range("192.168.105.10", "192.168.105.11")};
    CHECK_FALSE(b.arp_from(vm(1), {})); // an ARP probe (RFC 5227)
    const auto seen = b.arp_from(vm(1), ip("192.168.105.10"));
    CHECK(seen == dhcp_event{what::in_use, vm(1), ip("192.168.105.10"), ""});
    CHECK_FALSE(b.arp_from(vm(1), ip("192.168.105.10"))); // told once
    CHECK_FALSE(b.arp_from(vm(1), ip("192.168.105.77"))); // not ours to lend
    CHECK(b.lease(vm(2)) == ip("192.168.105.11"));
    CHECK_FALSE(b.lease(vm(3)));
    CHECK(b.lease(vm(1)) != std::nullopt); // its own
  }

  TEST_CASE("an offered address that is seen in use meanwhile is not lent") {
    dhcp_bench b;
    const auto offered = *b.discover(vm(1));
    b.arp_from(vm(2), offered);
    CHECK(b.select(vm(1), offered)->kind == dhcp_message::nak);
    CHECK(b.lease(vm(1)) != offered);
  }

  TEST_CASE("new settings are told at the next renewal, and leases stay") {
    dhcp_bench bench;
    const auto address = bench.lease(vm(1));
    REQUIRE(address);
    bench.config.dns = {ip("192.168.105.77")};
    bench.config.reservations = {{vm(1), {}, "web"}};
    bench.server.change(resolve_dhcp(bench.host, bench.config), bench.now);
    const auto answer = bench.renew(vm(1), *address);
    REQUIRE(answer);
    CHECK(answer->kind == dhcp_message::ack);
    CHECK(options_of(bench.last)[6] == std::string("\xc0\xa8\x69\x4d", 4));
    CHECK(options_of(bench.last)[12] == "web");
    bench.config.reservations = {{vm(1), ip("192.168.105.200"), "web"}};
    bench.server.change(resolve_dhcp(bench.host, bench.config), bench.now);
    CHECK(bench.renew(vm(1), *address)->kind == dhcp_message::nak);
    CHECK(bench.lease(vm(1)) == ip("192.168.105.200"));
  }
}
