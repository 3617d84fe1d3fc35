#include "transport/frame/ethernet.hpp"

#include <doctest/doctest.h>

#include "tests/transport/wire.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

TEST_SUITE("ethernet") {

  TEST_CASE("a runt has no header to look at") {
    CHECK_FALSE(ethernet_view::parse(pattern(13)).has_value());
    CHECK(ethernet_view::parse(pattern(14)).has_value());
  }

  TEST_CASE("destination, source and type stand where IEEE 802.3 puts them") {
    bytes frame(20);
    mac_address::parse("52:54:00:00:00:01")->write(frame.data());
    mac_address::parse("52:54:00:00:00:02")->write(frame.data() + 6);
    frame[12] = std::byte{0x08};
    frame[13] = std::byte{0x06};
    const auto view = ethernet_view::parse(frame).value();
    CHECK(to_string(view.destination()) == "52:54:00:00:00:01");
    CHECK(to_string(view.source()) == "52:54:00:00:00:02");
    CHECK(view.type() == 0x0806);
    CHECK(view.payload().size() == 6);
    CHECK(view.payload().data() == frame.data() + 14);
  }

  TEST_CASE("a prefix is big-endian") {
    bytes at(4);
    write_prefix(at.data(), 0x0001'0203);
    CHECK(at == bytes{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}});
    CHECK(read_prefix(at.data()) == 0x0001'0203);
  }

  TEST_CASE("the largest frame of an MTU has room for a header and one tag") {
    CHECK(max_frame_for_mtu(1500) == 1518);
  }

} // TEST_SUITE
