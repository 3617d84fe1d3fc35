// Captures as they are asked for: by messages to the switch.

#include <doctest/doctest.h>

#include "actors/switch/switch_actor.hpp"
#include "tests/actors/capture/capture_lab.hpp"
#include "tests/support/actor_fixture.hpp"

namespace vmswitch {

using test::capture_reader;
using test::frame;
using test::tagged_frame;
using test::vm_mac;

namespace {

// A switch with the host and two VMs, each behind its port and known to the switch.
struct bench : test::actor_fixture {
  bench() {
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      tell(the_switch, attach_port{{slot, 1}, ports[slot].handle, "p" + std::to_string(slot)});
      send(slot, {tagged_frame(broadcast_mac, vm_mac(slot), 0)});
    }
  }
  ~bench() {
    tell(the_switch, stop{});
    run();
  }
  void send(std::uint32_t slot, const std::vector<frame>& frames) {
    tell(the_switch, frames_in{{slot, 1}, make(frames)});
    run();
  }
  void start(capture_reader& reader, std::uint64_t id, std::string port = {}) {
    auto request = test::request_for(std::move(port));
    request.id = id;
    tell(the_switch,
         capture_start{std::make_shared<capture_tap>(std::move(request), reader.channel())});
    run();
  }
  static std::vector<int> tags(capture_reader& reader) {
    std::vector<int> found;
    for (const auto& each : reader.stream().packets)
      found.push_back(test::tag_of(each.bytes));
    return found;
  }

  test::burst_maker make;
  test::probe ports[3] = {test::probe{*this}, test::probe{*this}, test::probe{*this}};
  caf::actor the_switch = spawn_switch(system(), nullptr, "net", {}, 5);
};

frame to_vm(std::uint32_t to, std::uint32_t from, std::uint8_t tag) {
  return tagged_frame(vm_mac(to), vm_mac(from), tag);
}

using found = std::vector<int>;

} // namespace

TEST_CASE("a capture sees what its port sends and gets, flooded frames included") {
  bench b;
  capture_reader reader;
  b.start(reader, 1, "p1");
  b.send(1, {to_vm(2, 1, 1)});
  b.send(2, {to_vm(1, 2, 2), to_vm(0, 2, 3)});
  b.send(0, {tagged_frame(broadcast_mac, vm_mac(0), 4)});
  CHECK(bench::tags(reader) == found{1, 2, 4});
  const auto stream = reader.stream();
  CHECK(stream.packets[0].direction == 1);
  CHECK(stream.packets[1].direction == 2);
  CHECK(stream.packets[0].time_ns > 1'700'000'000'000'000'000); // it is the time of day
}

TEST_CASE("frames are forwarded as they are without a capture") {
  bench b;
  capture_reader all;
  capture_reader one;
  b.start(all, 1);
  b.start(one, 2, "p2");
  for (auto& each : b.ports)
    each.clear();
  b.send(0, {to_vm(1, 0, 1), to_vm(2, 0, 2), tagged_frame(broadcast_mac, vm_mac(0), 3)});
  const auto got = [&](std::uint32_t slot) {
    found seen;
    for (const auto& message : b.ports[slot].seen().out)
      for (const auto& bare : test::frames_of(message.frames))
        seen.push_back(test::tag_of(bare));
    return seen;
  };
  CHECK(got(1) == found{1, 3});
  CHECK(got(2) == found{2, 3});
  CHECK(bench::tags(all) == found{1, 2, 3});
  CHECK(bench::tags(one) == found{2, 3});
}

TEST_CASE("a capture that is stopped ends with its statistics and leaves nothing") {
  bench b;
  capture_reader reader;
  b.start(reader, 7);
  b.send(0, {to_vm(1, 0, 1)});
  tell(b.the_switch, capture_stop{8}); // another one
  b.send(0, {to_vm(1, 0, 2)});
  CHECK_FALSE(reader.channel()->over());
  tell(b.the_switch, capture_stop{7});
  b.send(0, {to_vm(1, 0, 3)});
  const auto stream = reader.stream();
  CHECK(stream.packets.size() == 2);
  CHECK(stream.ends.at(0).more.number(8) == 2);
  CHECK(reader.channel()->over());
  CHECK(reader.channel().use_count() == 1);
}

TEST_CASE("a capture ends with its port, with its switch, or is refused at once") {
  bench b;
  capture_reader of_port;
  capture_reader of_all;
  capture_reader of_none;
  b.start(of_port, 1, "p2");
  b.start(of_all, 2);
  b.start(of_none, 3, "p9");
  CHECK(of_none.channel()->refusal() == "network net has no port \"p9\"; it has: p0, p1, p2");
  tell(b.the_switch, detach_port{{2, 1}});
  b.run();
  CHECK(of_port.stream().ends.at(0).more.text(1) == "the port has gone");
  CHECK_FALSE(of_all.channel()->over());
  tell(b.the_switch, stop{});
  b.run();
  CHECK(of_all.stream().ends.at(0).more.text(1) == "the network stops");
}

TEST_CASE("VMs that come while a capture runs are in it, from their first frame on") {
  bench b;
  capture_reader reader;
  test::probe late{b};
  b.start(reader, 1);
  tell(b.the_switch, attach_port{{3, 1}, late.handle, "p3"});
  b.send(3, {tagged_frame(broadcast_mac, vm_mac(3), 9)});
  const auto stream = reader.stream();
  REQUIRE(stream.packets.size() == 1);
  CHECK(stream.interfaces[stream.packets[0].interface].name == "p3");
}

TEST_CASE("a capture whose reader has stopped reading costs nobody a frame or a slab") {
  bench b;
  capture_reader stuck{4096};
  b.start(stuck, 1);
  for (int i = 0; i < 500; ++i) {
    b.ports[1].clear();
    b.send(0, {to_vm(1, 0, 1), to_vm(1, 0, 2)});
    REQUIRE(b.ports[1].seen().out.size() == 1);
    REQUIRE(b.ports[1].seen().out[0].frames.frames() == 2);
  }
  for (auto& each : b.ports)
    each.clear();
  b.make.release();
  CHECK(b.make.slabs_out() == 0);
}

} // namespace vmswitch
