#include "actors/capture/capture_set.hpp"

#include <doctest/doctest.h>

#include "tests/actors/capture/capture_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr capture_set::clock::time_point now{};

capture_request numbered(std::uint64_t id, std::string port = {}) {
  auto made = request_for(std::move(port));
  made.id = id;
  return made;
}

struct lab {
  // Ports "p0" .. "p2", each with the VM of its number behind it.
  lab() {
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      table.attach({slot, 1});
      table.process({slot, 1}, make({tagged_frame(broadcast_mac, vm_mac(slot), 0)}), 0);
    }
  }
  void start(capture_reader& reader, capture_request request) {
    static constexpr capture_tap::port ports[] = {{0, "p0"}, {1, "p1"}, {2, "p2"}};
    set.start(std::make_shared<capture_tap>(std::move(request), reader.channel()), ports, now);
  }
  void send(std::uint32_t from, const std::vector<frame>& frames) {
    const auto in = make(frames);
    const auto outcome = table.process({from, 1}, in, 0);
    set.record({from, 1}, in, outcome, table, now);
  }
  // "tag/interface/direction" of each frame.
  static std::string seen(capture_reader& reader) {
    std::string text;
    const auto stream = reader.stream();
    for (const auto& each : stream.packets)
      text += std::to_string(tag_of(each.bytes)) + "/" + stream.interfaces[each.interface].name +
              (each.direction == 1 ? "/in " : "/out ");
    return text;
  }

  burst_maker make;
  forwarding table{{1024, 1024, 300}, 1};
  capture_set set;
};

std::vector<frame> to_vm(std::uint32_t to, std::uint32_t from, std::uint8_t tag) {
  return {tagged_frame(vm_mac(to), vm_mac(from), tag)};
}

} // namespace

TEST_SUITE("capture_set") {

  TEST_CASE("all ports: each frame once, where it came in") {
    lab l;
    capture_reader reader;
    l.start(reader, numbered(1));
    l.send(0, to_vm(1, 0, 1));
    l.send(1, {tagged_frame(broadcast_mac, vm_mac(1), 2)});
    CHECK(lab::seen(reader) == "1/p0/in 2/p1/in ");
  }

  TEST_CASE("one port: what comes from it, and what goes to it") {
    lab l;
    capture_reader reader;
    l.start(reader, numbered(1, "p1"));
    l.send(1, to_vm(0, 1, 1));
    l.send(0, to_vm(1, 0, 2));
    l.send(0, to_vm(2, 0, 3)); // not its business
    CHECK(lab::seen(reader) == "1/p1/in 2/p1/out ");
  }

  TEST_CASE("one port: flooded frames are among those to it, in their order and once") {
    lab l;
    capture_reader reader;
    l.start(reader, numbered(1, "p1"));
    l.send(0, {tagged_frame(broadcast_mac, vm_mac(0), 1)});
    l.send(0, {tagged_frame(broadcast_mac, vm_mac(0), 2), to_vm(1, 0, 3)[0],
               tagged_frame(vm_mac(77), vm_mac(0), 4), to_vm(2, 0, 5)[0]});
    l.send(1, {tagged_frame(broadcast_mac, vm_mac(1), 6)}); // not back to where it came from
    CHECK(lab::seen(reader) == "1/p1/out 2/p1/out 3/p1/out 4/p1/out 6/p1/in ");
  }

  TEST_CASE("several at once do not mind each other") {
    lab l;
    capture_reader all;
    capture_reader one;
    l.start(all, numbered(1));
    l.start(one, numbered(2, "p2"));
    l.send(0, to_vm(2, 0, 1));
    l.set.stop(1, now);
    CHECK(all.channel()->refusal().empty());
    l.send(0, to_vm(2, 0, 2));
    CHECK(lab::seen(all) == "1/p0/in ");
    CHECK(lab::seen(one) == "1/p2/out 2/p2/out ");
    CHECK(l.set.running().size() == 1);
  }

  TEST_CASE("there are at most so many at a time") {
    lab l;
    capture_reader readers[capture_set::most + 1];
    for (std::uint64_t id = 0; id <= capture_set::most; ++id)
      l.start(readers[id], numbered(id));
    CHECK(l.set.running().size() == capture_set::most);
    CHECK(readers[capture_set::most].channel()->over());
    CHECK(readers[capture_set::most].channel()->refusal().find("8 captures") != std::string::npos);
    l.set.stop(3, now);
    capture_reader next;
    l.start(next, numbered(99));
    CHECK(l.set.running().size() == capture_set::most);
    CHECK_FALSE(next.channel()->over());
  }

  TEST_CASE("those that end by themselves are forgotten, and what they held is freed") {
    lab l;
    auto reader = std::make_unique<capture_reader>();
    auto request = numbered(1);
    request.count = 1;
    l.start(*reader, request);
    l.send(0, to_vm(2, 0, 1));
    CHECK(l.set.empty());
    CHECK(reader->channel().use_count() == 1);
  }

  TEST_CASE("a port's end ends its capture, and the switch's end all of them") {
    lab l;
    capture_reader one;
    capture_reader all;
    l.start(one, numbered(1, "p1"));
    l.start(all, numbered(2));
    l.set.port_detached(1, now);
    CHECK(one.stream().ends.at(0).more.text(1) == "the port has gone");
    l.set.stop_all("the network stops", now);
    CHECK(all.stream().ends.at(2).more.text(1) == "the network stops");
    CHECK(l.set.empty());
  }

  TEST_CASE("a reader that sleeps is woken once for a burst") {
    lab l;
    capture_reader reader;
    l.start(reader, numbered(1));
    reader.read();
    REQUIRE(reader.channel()->sleep());
    l.send(0, {tagged_frame(vm_mac(1), vm_mac(0), 1), tagged_frame(vm_mac(1), vm_mac(0), 2)});
    l.send(0, to_vm(1, 0, 3));
    CHECK(reader.wakes == 1);
    CHECK(reader.stream().packets.size() == 3);
  }

} // TEST_SUITE
