#include "vmnet/tap/router_advertiser.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/frames.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

using clock_type = router_advertiser::clock;
const clock_type::time_point begin = clock_type::time_point{} + 1h;
const auto router_mac = *mac_address::parse("fe:40:c2:3b:e1:21");
const auto vm = *mac_address::parse("52:54:00:00:00:01");

advertised_network network() {
  advertised_network made;
  made.mac = router_mac;
  made.link_local = link_local_for(router_mac);
  made.prefix.octets = {0xfd, 0x4b, 0xcc, 0x22, 0xb4, 0xa3};
  return made;
}

// Sets the ICMPv6 checksum (RFC 4443, 2.3) after a change of the message.
frame with_checksum(frame bare) {
  bare[56] = bare[57] = std::byte{0};
  byte_writer pseudo;
  pseudo.bytes(std::span{bare}.subspan(22, 32)).u32(static_cast<std::uint32_t>(bare.size() - 54));
  pseudo.u32(58).bytes(std::span{bare}.subspan(54));
  const auto sum = internet_checksum(pseudo.take());
  bare[56] = static_cast<std::byte>(sum >> 8);
  bare[57] = static_cast<std::byte>(sum & 0xff);
  return bare;
}

frame from_unspecified() {
  frame bare = router_solicitation(vm);
  std::fill_n(bare.begin() + 22, 16, std::byte{0});
  bare.resize(54 + 8); // without the option that gives the sender's MAC address
  bare[18] = std::byte{0};
  bare[19] = std::byte{8};
  return with_checksum(bare);
}

mac_address destination(const frame& bare) {
  return mac_address::read(bare.data());
}

} // namespace

TEST_SUITE("router_advertiser") {

  TEST_CASE("an advertisement, byte for byte") {
    auto told = network();
    told.dns = told.link_local;
    router_advertiser advertiser{told, 1};
    const auto answer = advertiser.on_solicitation(router_solicitation(vm), begin);
    REQUIRE(answer);
    byte_writer right;
    right.mac(vm).mac(router_mac).u16(type_ipv6);
    right.u32(0x60000000).u16(16 + 8 + 8 + 32 + 24).u8(58).u8(255);
    const auto ip = [&](const ipv6_address& address) {
      for (const auto octet : address.octets)
        right.u8(octet);
    };
    ip(told.link_local);
    ip(link_local_for(vm));
    right.u8(134).u8(0).u16(0);                 // checksum: below
    right.u8(64).u8(0).u16(9000).u32(0).u32(0); // hop limit, no DHCPv6, lifetime
    right.u8(1).u8(1).mac(router_mac);          // source link-layer address
    right.u8(5).u8(1).u16(0).u32(1500);         // MTU
    right.u8(3).u8(4).u8(64).u8(0xc0).u32(2592000).u32(604800).u32(0); // prefix
    ip(told.prefix);
    right.u8(25).u8(3).u16(0).u32(9000); // RDNSS
    ip(told.link_local);
    CHECK(*answer == with_checksum(right.take()));
  }

  TEST_CASE("without a name server and a way to the world neither is announced") {
    auto told = network();
    told.leads_to_world = false;
    router_advertiser advertiser{told, 1};
    const auto answer = advertiser.on_solicitation(router_solicitation(vm), begin);
    REQUIRE(answer);
    CHECK(answer->size() == 14 + 40 + 16 + 8 + 8 + 32);
    CHECK((*answer)[54 + 6] == std::byte{0});
    CHECK((*answer)[54 + 7] == std::byte{0});
  }

  TEST_CASE("a VM without an address is answered by an announcement to all, but not too often") {
    router_advertiser advertiser{network(), 1};
    const auto first = advertiser.on_solicitation(from_unspecified(), begin);
    REQUIRE(first);
    CHECK(to_string(destination(*first)) == "33:33:00:00:00:01");
    CHECK_FALSE(advertiser.on_solicitation(from_unspecified(), begin + 1s));
    REQUIRE(advertiser.due());
    CHECK(*advertiser.due() == begin + 3s);
    CHECK_FALSE(advertiser.on_time(begin + 2999ms));
    CHECK(advertiser.on_time(begin + 3s));
  }

  TEST_CASE("a VM that solicits without end gets ten answers a second") {
    router_advertiser advertiser{network(), 1};
    const auto answers = [&](clock_type::time_point from) {
      int count = 0;
      for (int i = 0; i < 1000; ++i)
        count += advertiser.on_solicitation(router_solicitation(vm), from + i * 999us) ? 1 : 0;
      return count;
    };
    CHECK(answers(begin) == 10);
    CHECK(answers(begin + 1s) == 10);
  }

  TEST_CASE("all are told every 200 to 600 s while a VM is heard") {
    router_advertiser advertiser{network(), 7};
    CHECK_FALSE(advertiser.due());
    advertiser.heard(begin);
    auto now = begin;
    REQUIRE(advertiser.due());
    CHECK(advertiser.on_time(now));
    for (int i = 0; i < 20; ++i) {
      advertiser.heard(now + 1s);
      REQUIRE(advertiser.due());
      const auto pause = *advertiser.due() - now;
      CHECK(pause >= 200s);
      CHECK(pause <= 600s);
      now = *advertiser.due();
      CHECK(advertiser.on_time(now));
    }
  }

  TEST_CASE("an idle network causes no wake-ups, and a VM that speaks again is told soon") {
    router_advertiser advertiser{network(), 1};
    advertiser.heard(begin);
    CHECK(advertiser.on_time(begin)); // heard before it
    const auto last = *advertiser.due();
    CHECK(advertiser.on_time(last)); // nothing since
    CHECK_FALSE(advertiser.due());
    advertiser.heard(last + 1h);
    CHECK(advertiser.due() == last + 1h);
  }

  TEST_CASE("hostile: what is no solicitation is not answered") {
    const auto good = router_solicitation(vm);
    const auto changed = [&](std::size_t at, unsigned value, bool sum = true) {
      auto bare = good;
      bare[at] = static_cast<std::byte>(value);
      return sum ? with_checksum(bare) : bare;
    };
    router_advertiser advertiser{network(), 1};
    REQUIRE(advertiser.on_solicitation(good, begin));
    std::vector<frame> bad{
        changed(21, 64),          // came through a router
        changed(55, 1),           // code
        changed(56, 0x12, false), // checksum
        changed(14, 0x40),        // not IPv6
        changed(54, 134),         // an advertisement
        changed(19, 4),           // shorter than a solicitation
        changed(18, 0x40),        // longer than the frame
        changed(6, 0x01),         // a group as sender
        changed(22, 0xff),        // likewise
    };
    if (good.size() >= 54 + 16)
      bad.push_back(changed(54 + 9, 0)); // an option without length
    auto long_option = good;
    long_option.resize(54 + 16);
    long_option[19] = std::byte{16};
    long_option[62] = std::byte{1};
    long_option[63] = std::byte{2}; // beyond the end
    bad.push_back(with_checksum(long_option));
    auto with_option = long_option;
    with_option[63] = std::byte{1};
    std::fill_n(with_option.begin() + 22, 16, std::byte{0}); // from nobody, with a MAC address
    bad.push_back(with_checksum(with_option));
    for (std::size_t i = 0; i < bad.size(); ++i) {
      CAPTURE(i);
      CHECK_FALSE(advertiser.on_solicitation(bad[i], begin + 10s));
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
      CAPTURE(size);
      CHECK_FALSE(advertiser.on_solicitation(std::span{good}.first(size), begin + 10s));
    }
  }

} // TEST_SUITE
