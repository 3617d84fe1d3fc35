#include "actors/switch/switch_actor.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/actor_fixture.hpp"
#include "tests/support/bursts.hpp"

namespace vmswitch {

using namespace std::chrono_literals;
using test::frame;
using test::frames_of;
using test::probe;
using test::tagged_frame;
using test::vm_mac;

namespace {

// A switch with three probes as ports 1..3.
struct bench : test::actor_fixture {
  bench() {
    for (std::uint32_t slot = 1; slot <= 3; ++slot)
      attach(slot, ports[slot - 1]);
  }
  ~bench() {
    tell(the_switch, stop{});
    run();
  }
  void attach(std::uint32_t slot, probe& port, std::uint32_t generation = 1) {
    tell(the_switch, attach_port{{slot, generation}, port.handle, "p" + std::to_string(slot)});
    run();
  }
  void send(std::uint32_t slot, const std::vector<frame>& frames, std::uint32_t generation = 1) {
    tell(the_switch, frames_in{{slot, generation}, make(frames)});
    run();
  }
  std::vector<int> received(std::uint32_t slot) {
    std::vector<int> tags;
    for (const auto& each : ports[slot - 1].seen().out)
      for (const auto& bare : frames_of(each.frames))
        tags.push_back(test::tag_of(bare));
    return tags;
  }

  test::burst_maker make;
  probe ports[3] = {probe{*this}, probe{*this}, probe{*this}};
  caf::actor the_switch = spawn_switch(system(), nullptr, "net", {}, 5);
};

using tags = std::vector<int>;

} // namespace

TEST_CASE("sv#58: known unicast reaches its port only") {
  bench b;
  b.send(2, {tagged_frame(broadcast_mac, vm_mac(2), 1)});
  b.send(1, {tagged_frame(vm_mac(2), vm_mac(1), 2), tagged_frame(vm_mac(2), vm_mac(1), 3)});
  CHECK(b.received(1) == tags{1});
  CHECK(b.received(2) == tags{2, 3});
  CHECK(b.received(3) == tags{1});
}

TEST_CASE("one message goes to each port, however the burst is mixed") {
  bench b;
  b.send(2, {tagged_frame(broadcast_mac, vm_mac(2), 0)});
  b.send(3, {tagged_frame(broadcast_mac, vm_mac(3), 0)});
  for (auto& port : b.ports)
    port.clear();
  std::vector<frame> mixed;
  for (std::uint8_t i = 0; i < 30; ++i)
    mixed.push_back(tagged_frame(i % 3 == 0   ? vm_mac(2)
                                 : i % 3 == 1 ? vm_mac(3)
                                              : broadcast_mac,
                                 vm_mac(1), i));
  b.send(1, mixed);
  CHECK(b.ports[1].seen().out.size() == 1);
  CHECK(b.ports[2].seen().out.size() == 1);
  const auto received = b.received(2);
  CHECK(received.size() == 20);
  CHECK(std::is_sorted(received.begin(), received.end()));
}

TEST_CASE("a detached port is told when nothing more will come, and gets nothing more") {
  bench b;
  b.send(2, {tagged_frame(broadcast_mac, vm_mac(2), 1)});
  tell(b.the_switch, detach_port{{2, 1}});
  b.run();
  CHECK(b.ports[1].seen().detached == 1);
  b.ports[2].clear();
  b.send(1, {tagged_frame(vm_mac(2), vm_mac(1), 2)});
  CHECK(b.received(2).empty());
  CHECK(b.received(3) == tags{2}); // unknown again, hence flooded
}

TEST_CASE("what a port sent just before it went is not taken for its successor's") {
  bench b;
  probe successor{b};
  tell(b.the_switch, detach_port{{2, 1}});
  b.attach(2, successor, 2);
  b.send(2, {tagged_frame(broadcast_mac, vm_mac(2), 1)}, 1);
  CHECK(b.received(1).empty());
  b.send(2, {tagged_frame(broadcast_mac, vm_mac(2), 2)}, 2);
  CHECK(b.received(1) == tags{2});
}

TEST_CASE("an address ages by the actor's clock") {
  bench b;
  b.send(2, {tagged_frame(broadcast_mac, vm_mac(2), 1)});
  b.advance(302s);
  b.ports[2].clear();
  b.send(1, {tagged_frame(vm_mac(2), vm_mac(1), 2)});
  CHECK(b.received(3) == tags{2});
}

TEST_CASE("flags are in force when that is told, and a port that has gone has none") {
  bench b;
  std::vector<port_answer::what> told;
  const auto set = [&](port_id id, port_flags flags) {
    tell(b.the_switch, set_port_flags{id, flags, std::make_shared<port_reply>([&](auto answer) {
                                        told.push_back(answer.kind);
                                      })});
  };
  set({2, 1}, {.down = true});
  b.send(1, {tagged_frame(broadcast_mac, vm_mac(1), 1)});
  CHECK(b.received(2).empty());
  CHECK(b.received(3) == tags{1});
  tell(b.the_switch, set_port_flags{{2, 1}, {}, nullptr});
  b.send(1, {tagged_frame(broadcast_mac, vm_mac(1), 2)});
  CHECK(b.received(2) == tags{2});
  set({2, 9}, {.down = true});
  b.run();
  CHECK(told == std::vector{port_answer::what::done, port_answer::what::no_port});
}

TEST_CASE("drops are counted by reason, and survive their port") {
  bench b;
  b.send(1, {tagged_frame(vm_mac(2), mac_address::from_integer(0x0100'0000'0001ULL), 1)});
  tell(b.the_switch, detach_port{{1, 1}});
  b.send(1, {tagged_frame(vm_mac(2), vm_mac(1), 1), tagged_frame(vm_mac(2), vm_mac(1), 1)});
  tell(b.the_switch, report_counters{b.ports[0].handle});
  b.run();
  REQUIRE(b.ports[0].seen().switch_reports.size() == 1);
  const auto& drops = b.ports[0].seen().switch_reports[0].drops;
  CHECK(drops[drop_reason::group_source] == 1);
  CHECK(drops[drop_reason::unknown_port] == 2);
}

} // namespace vmswitch
