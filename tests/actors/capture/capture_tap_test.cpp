#include "actors/capture/capture_tap.hpp"

#include <optional>

#include <doctest/doctest.h>

#include "tests/actors/capture/capture_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using pcapng::direction;

namespace {

using clock_point = capture_tap::clock::time_point;
constexpr clock_point at(std::uint64_t ns) {
  return clock_point{std::chrono::nanoseconds{ns}};
}
constexpr std::uint64_t t0 = 1'700'000'000'123'456'789;

// A capture in a network with the host and two VMs.
struct lab {
  explicit lab(capture_request request = request_for(),
               std::size_t bytes = capture_channel::ring_bytes)
      : reader{bytes}, tap{std::in_place, std::move(request), reader.channel()} {
    static constexpr capture_tap::port ports[] = {{0, "host"}, {1, "net.1"}, {2, "net.2"}};
    tap->begin(ports, at(t0));
  }
  void record(std::uint32_t slot, const std::vector<frame>& frames,
              direction way = direction::inbound, std::uint64_t ns = t0) {
    tap->record(slot, way, make(frames), at(ns));
    tap->publish();
  }

  burst_maker make;
  capture_reader reader;
  std::optional<capture_tap> tap;
};

frame a_frame(std::uint8_t tag, std::size_t size = 60) {
  return tagged_frame(vm_mac(2), vm_mac(1), tag, size);
}

} // namespace

TEST_SUITE("capture_tap") {

  TEST_CASE("a stream begins with its ports as interfaces, before any frame has come") {
    lab l;
    const auto stream = l.reader.stream();
    REQUIRE(stream.interfaces.size() == 3);
    CHECK(stream.interfaces[0].name == "host");
    CHECK(stream.interfaces[2].name == "net.2");
    CHECK(stream.interfaces[2].snaplen == 262'144);
    CHECK(stream.section.text(1) == "network net, all ports");
    CHECK(stream.section.text(4) == "test");
  }

  TEST_CASE("of one port, only that is an interface, and the filter stands with it") {
    lab l{request_for("net.2", "arp or icmp")};
    const auto stream = l.reader.stream();
    REQUIRE(stream.interfaces.size() == 1);
    CHECK(stream.interfaces[0].name == "net.2");
    CHECK(stream.interfaces[0].filter == "arp or icmp");
    CHECK(stream.section.text(1) == "network net, port net.2");
    CHECK(l.tap->slot() == 2);
  }

  TEST_CASE("frames are recorded whole, with their time, port and direction") {
    lab l;
    l.record(1, {a_frame(1), a_frame(2, 1514)});
    l.record(2, {a_frame(3)}, direction::outbound, t0 + 5);
    const auto stream = l.reader.stream();
    REQUIRE(stream.packets.size() == 3);
    CHECK(stream.packets[0].bytes == a_frame(1));
    CHECK(stream.packets[0].interface == 1);
    CHECK(stream.packets[0].direction == 1);
    CHECK(stream.packets[0].time_ns == t0);
    CHECK(stream.packets[1].bytes == a_frame(2, 1514));
    CHECK(stream.packets[1].original_size == 1514);
    CHECK(stream.packets[2].interface == 2);
    CHECK(stream.packets[2].direction == 2);
    CHECK(stream.packets[2].time_ns == t0 + 5);
  }

  TEST_CASE("of a long frame snaplen bytes are kept, and its length") {
    auto request = request_for();
    request.snaplen = 61;
    lab l{request};
    l.record(1, {a_frame(1, 60), a_frame(2, 1514)});
    const auto stream = l.reader.stream();
    REQUIRE(stream.packets.size() == 2);
    CHECK(stream.packets[0].bytes.size() == 60);
    CHECK(stream.packets[1].bytes.size() == 61);
    CHECK(stream.packets[1].original_size == 1514);
    CHECK(stream.interfaces[0].snaplen == 61);
  }

  TEST_CASE("a recorded frame is a copy: its slab goes back to the sender") {
    lab l;
    l.record(1, {a_frame(1)});
    l.make.release();
    CHECK(l.make.slabs_out() == 0);
    CHECK(l.reader.stream().packets.size() == 1);
  }

  TEST_CASE("what the filter cuts is received, but neither accepted nor lost") {
    lab l{request_for({}, "arp")};
    const auto arp = arp_request(vm_mac(1), {1}, {2});
    l.record(1, {a_frame(1), arp, a_frame(2)});
    l.tap->end({}, at(t0 + 10));
    const auto stream = l.reader.stream();
    REQUIRE(stream.packets.size() == 1);
    CHECK(stream.packets[0].bytes == arp);
    const auto& counts = stream.ends.at(1).more;
    CHECK(counts.number(4) == 3);
    CHECK(counts.number(6) == 1);
    CHECK(counts.number(8) == 1);
    CHECK(counts.number(5) == 0);
  }

  TEST_CASE("a reader that does not read loses frames, which are counted, and nobody waits") {
    lab l{request_for(), 4096};
    for (int i = 0; i < 1000; ++i)
      l.record(1, {a_frame(1), a_frame(2)});
    CHECK(l.tap->delivered() + l.tap->lost() == 2000);
    CHECK(l.tap->lost() > 1900);
    const auto before = l.tap->lost();
    l.reader.read();
    l.record(1, {a_frame(3)});
    l.record(1, {a_frame(4)});
    l.tap->end({}, at(t0));
    const auto stream = l.reader.stream();
    const auto& packets = stream.packets;
    REQUIRE(packets.size() == l.tap->delivered());
    CHECK(packets[packets.size() - 3].lost_before == 0);
    CHECK(packets[packets.size() - 2].lost_before == before);
    CHECK(packets[packets.size() - 1].lost_before == 0);
    const auto& counts = stream.ends.at(1).more;
    CHECK(counts.number(4) == 2002);
    CHECK(counts.number(6) == 2002);
    CHECK(counts.number(5) == before);
    CHECK(counts.number(8) == packets.size());
  }

  TEST_CASE("with a filter, frames that were lost are those that it wanted") {
    lab l{request_for({}, "arp"), 4096};
    const auto arp = arp_request(vm_mac(1), {1}, {2});
    for (int i = 0; i < 100; ++i)
      l.record(1, {a_frame(1), arp, a_frame(2)});
    CHECK(l.tap->delivered() + l.tap->lost() == 100);
    CHECK(l.tap->lost() > 0);
  }

  TEST_CASE("losses are those of the interface that had them") {
    lab l{request_for(), 4096};
    for (int i = 0; i < 100; ++i)
      l.record(1, {a_frame(1)});
    l.reader.read();
    l.record(2, {a_frame(1)});
    l.record(1, {a_frame(1)});
    const auto stream = l.reader.stream();
    CHECK(stream.packets[stream.packets.size() - 2].lost_before == 0);
    CHECK(stream.packets[stream.packets.size() - 1].lost_before == l.tap->lost());
  }

  TEST_CASE("it ends behind the frame that reaches the count, also within a burst") {
    auto request = request_for();
    request.count = 3;
    lab l{request};
    l.record(1, {a_frame(1), a_frame(2)});
    CHECK_FALSE(l.tap->ended());
    l.record(1, {a_frame(3), a_frame(4)});
    CHECK(l.tap->ended());
    l.record(1, {a_frame(5)});
    const auto stream = l.reader.stream();
    CHECK(stream.packets.size() == 3);
    CHECK(stream.ends.size() == 3);
    CHECK(stream.ends.at(1).more.text(1) == "3 frame(s) were captured, as was asked for");
    CHECK(l.reader.channel()->over());
  }

  TEST_CASE("VMs that come become interfaces; the statistics of those that went are kept") {
    lab l;
    l.record(1, {a_frame(1)});
    l.tap->port_detached(1, at(t0 + 7));
    l.record(1, {a_frame(2)}); // sent before, and too late
    l.tap->port_attached({1, "net.3"}, at(t0 + 8));
    l.record(1, {a_frame(3)});
    l.tap->end("done", at(t0 + 9));
    const auto stream = l.reader.stream();
    REQUIRE(stream.interfaces.size() == 4);
    CHECK(stream.interfaces[3].name == "net.3");
    REQUIRE(stream.packets.size() == 2);
    CHECK(stream.packets[1].interface == 3);
    CHECK(stream.ends.at(1).begin_ns == t0);
    CHECK(stream.ends.at(1).end_ns == t0 + 7);
    CHECK(stream.ends.at(3).begin_ns == t0 + 8);
    CHECK(stream.ends.at(3).end_ns == t0 + 9);
    CHECK(stream.ends.at(0).more.number(4) == 0);
  }

  TEST_CASE("a capture of one port ends with that port, and others do not matter") {
    lab l{request_for("net.2")};
    l.tap->port_attached({3, "net.3"}, at(t0));
    l.tap->port_detached(1, at(t0));
    CHECK_FALSE(l.tap->ended());
    l.tap->port_detached(2, at(t0));
    CHECK(l.tap->ended());
    const auto stream = l.reader.stream();
    CHECK(stream.interfaces.size() == 1);
    CHECK(stream.ends.at(0).more.text(1) == "the port has gone");
  }

  TEST_CASE("a port that is not there is a refusal that names those that are") {
    lab l{request_for("net.9")};
    CHECK(l.tap->ended());
    CHECK(l.reader.channel()->over());
    CHECK(l.reader.channel()->refusal() ==
          "network net has no port \"net.9\"; it has: host, net.1, net.2");
  }

  TEST_CASE("a request that is lost on its way ends, too") {
    capture_reader reader;
    { capture_tap lost{request_for(), reader.channel()}; }
    CHECK(reader.channel()->over());
    CHECK_FALSE(reader.channel()->refusal().empty());
  }

  TEST_CASE("VMs that come and go without end do not fill the memory") {
    lab l;
    for (std::uint32_t i = 0; i < capture_tap::max_interfaces + 10; ++i) {
      l.tap->port_attached({3, "net"}, at(t0));
      l.record(3, {a_frame(1)});
      l.reader.read();
      l.tap->port_detached(3, at(t0));
    }
    CHECK(l.reader.stream().interfaces.size() == capture_tap::max_interfaces);
    CHECK(l.tap->lost() == 10 + 3);
  }

} // TEST_SUITE
