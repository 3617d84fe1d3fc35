#include "transport/frame/mac_address.hpp"

#include <array>

#include <doctest/doctest.h>

using namespace vmswitch;

TEST_SUITE("mac_address") {

  TEST_CASE("text is parsed in either case and with either separator, and printed in one way") {
    for (const char* text : {"52:54:00:ab:CD:ef", "52-54-00-AB-cd-EF"}) {
      CAPTURE(text);
      const auto address = mac_address::parse(text);
      REQUIRE(address.has_value());
      CHECK(address->integer() == 0x5254'00ab'cdefULL);
      CHECK(to_string(*address) == "52:54:00:ab:cd:ef");
    }
  }

  TEST_CASE("anything else is refused") {
    for (const char* text : {"", "52:54:00:12:34", "52:54:00:12:34:56:", "52:54:00:12:34:5",
                             "52:54:00:12:34:5g", "525:4:00:12:34:56", "52 54 00 12 34 56",
                             "52:54:00:12:34:56:78", "525400123456", "-2:54:00:12:34:56"}) {
      CAPTURE(text);
      CHECK_FALSE(mac_address::parse(text).has_value());
    }
  }

  TEST_CASE("the first octet on the wire is the first in the text") {
    const std::array wire{std::byte{0x02}, std::byte{0x04}, std::byte{0x06},
                          std::byte{0x08}, std::byte{0x0a}, std::byte{0x0c}};
    const auto address = mac_address::read(wire.data());
    CHECK(to_string(address) == "02:04:06:08:0a:0c");
    std::array<std::byte, 6> written{};
    address.write(written.data());
    CHECK(written == wire);
  }

  TEST_CASE("the group bit tells multicast and broadcast from unicast") {
    CHECK(mac_address::parse("01:00:5e:00:00:01")->is_group());
    CHECK_FALSE(mac_address::parse("01:00:5e:00:00:01")->is_broadcast());
    CHECK(broadcast_mac.is_group());
    CHECK(broadcast_mac.is_broadcast());
    CHECK_FALSE(mac_address::parse("fe:ff:ff:ff:ff:ff")->is_group());
  }

} // TEST_SUITE
