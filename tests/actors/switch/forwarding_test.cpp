#include "actors/switch/forwarding.hpp"

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"

namespace vmswitch {

using test::burst_maker;
using test::frame;
using test::frames_of;
using test::tag_of;
using test::tagged_frame;
using test::vm_mac;

namespace {

// Ports 0..3; what one port would receive of an outcome, as tags.
struct bench {
  forwarding table{{1000, 100, 300}, 7};
  burst_maker make;
  std::uint32_t now = 0;

  bench() {
    for (std::uint32_t slot = 0; slot < 4; ++slot)
      table.attach({slot, 1});
  }

  void learn(std::uint32_t slot, std::uint32_t mac) {
    table.process({slot, 1}, make(tagged_frame(broadcast_mac, vm_mac(mac), 0)), now);
  }

  std::vector<std::vector<int>> deliver(std::uint32_t from, const std::vector<frame>& frames) {
    const auto in = make(frames);
    return collect(table.process({from, 1}, in, now));
  }

  std::vector<std::vector<int>> collect(const forwarding::outcome& outcome) {
    drops = outcome.drops;
    ranges = 0;
    std::vector<std::vector<int>> received(4);
    for (const auto& each : outcome.unicasts) {
      ranges += each.frames.ranges().size();
      for (const auto& bare : frames_of(each.frames))
        received[each.slot].push_back(tag_of(bare));
    }
    if (outcome.flood)
      for (std::uint32_t slot = 0; slot < 4; ++slot)
        if (table.floods_to(slot))
          for (const auto& bare : frames_of(*outcome.flood))
            received[slot].push_back(tag_of(bare));
    return received;
  }

  drop_counters drops;
  std::size_t ranges = 0;
};

using lists = std::vector<std::vector<int>>;

} // namespace

TEST_CASE("known unicast goes to exactly one port, as the one range that it came in") {
  bench b;
  b.learn(1, 1);
  std::vector<frame> frames;
  for (std::uint8_t i = 0; i < 50; ++i)
    frames.push_back(tagged_frame(vm_mac(1), vm_mac(0), i));
  const auto received = b.deliver(0, frames);
  CHECK(received[1].size() == 50);
  CHECK(std::is_sorted(received[1].begin(), received[1].end()));
  CHECK(received[2].empty());
  CHECK(received[3].empty());
  CHECK(b.ranges == 1);
}

TEST_CASE("unknown unicast, broadcast and multicast go to every other port, once") {
  bench b;
  const auto multicast = mac_address::from_integer(0x0100'5e00'00fbULL);
  CHECK(b.deliver(2,
                  {tagged_frame(vm_mac(9), vm_mac(2), 1), tagged_frame(broadcast_mac, vm_mac(2), 2),
                   tagged_frame(multicast, vm_mac(2), 3)}) ==
        lists{{1, 2, 3}, {1, 2, 3}, {}, {1, 2, 3}});
}

TEST_CASE("a port that gets unicast and flooded frames gets them in the order they were sent") {
  bench b;
  b.learn(1, 1);
  b.learn(3, 3);
  CHECK(b.deliver(0,
                  {tagged_frame(broadcast_mac, vm_mac(0), 1), tagged_frame(vm_mac(1), vm_mac(0), 2),
                   tagged_frame(vm_mac(3), vm_mac(0), 3), tagged_frame(broadcast_mac, vm_mac(0), 4),
                   tagged_frame(vm_mac(1), vm_mac(0), 5)}) ==
        lists{{}, {1, 2, 4, 5}, {1, 4}, {1, 3, 4}});
}

TEST_CASE("frames of different lengths in one burst are all found") {
  bench b;
  b.learn(1, 1);
  std::vector<frame> frames;
  for (const std::size_t size : {60, 60, 1514, 60, 15, 15, 1514, 1514, 64, 9000})
    frames.push_back(
        tagged_frame(vm_mac(1), vm_mac(0), static_cast<std::uint8_t>(frames.size()), size));
  CHECK(b.deliver(0, frames)[1] == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("a frame from a group address is dropped and teaches nothing") {
  bench b;
  const auto group = mac_address::from_integer(0x0300'0000'0001ULL);
  CHECK(b.deliver(0, {tagged_frame(vm_mac(1), group, 1), tagged_frame(vm_mac(1), vm_mac(0), 2)}) ==
        lists{{}, {2}, {2}, {2}});
  CHECK(b.drops[drop_reason::group_source] == 1);
  CHECK(b.table.table().size() == 1);
}

TEST_CASE("a frame for an address behind its own port is dropped") {
  bench b;
  b.learn(0, 5);
  CHECK(b.deliver(0, {tagged_frame(vm_mac(5), vm_mac(0), 1)}) == lists(4));
  CHECK(b.drops[drop_reason::same_port] == 1);
}

TEST_CASE("a source is known before the frame behind it in the same burst is forwarded") {
  bench b;
  CHECK(b.deliver(0, {tagged_frame(broadcast_mac, vm_mac(5), 1),
                      tagged_frame(vm_mac(5), vm_mac(0), 2)}) == lists{{}, {1}, {1}, {1}});
  CHECK(b.drops[drop_reason::same_port] == 1);
}

TEST_CASE("an address that moves is followed at once, and named") {
  bench b;
  b.learn(1, 1);
  const auto in = b.make(tagged_frame(broadcast_mac, vm_mac(1), 0));
  const auto outcome = b.table.process({3, 1}, in, 0);
  REQUIRE(outcome.moves.size() == 1);
  CHECK(outcome.moves[0].address == vm_mac(1));
  CHECK(outcome.moves[0].from_slot == 1);
  CHECK(outcome.moves[0].to_slot == 3);
  CHECK(b.deliver(0, {tagged_frame(vm_mac(1), vm_mac(0), 7)}) == lists{{}, {}, {}, {7}});
}

TEST_CASE("frames of a port that has gone are dropped, even when its slot is in use again") {
  bench b;
  b.table.detach({2, 1});
  b.table.attach({2, 2});
  const auto in = b.make(tagged_frame(broadcast_mac, vm_mac(2), 1));
  CHECK(b.collect(b.table.process({2, 1}, in, 0)) == lists(4));
  CHECK(b.drops[drop_reason::unknown_port] == 1);
  CHECK(b.table.table().size() == 0);
}

TEST_CASE("frames for an address whose port has gone are flooded, not lost") {
  bench b;
  b.learn(1, 1);
  b.table.detach({1, 1});
  const auto received = b.deliver(0, {tagged_frame(vm_mac(1), vm_mac(0), 4)});
  CHECK(received[2] == std::vector<int>{4});
  CHECK(received[3] == std::vector<int>{4});
}

TEST_CASE("two isolated ports get nothing of each other, and both reach all others") {
  bench b;
  for (std::uint32_t slot = 0; slot < 4; ++slot)
    b.learn(slot, slot);
  b.table.change({0, 1}, {.isolated = true});
  b.table.change({1, 1}, {.isolated = true});
  const auto to_all = [](std::uint32_t from) {
    return std::vector<frame>{tagged_frame(vm_mac(1 - from), vm_mac(from), 1),
                              tagged_frame(broadcast_mac, vm_mac(from), 2),
                              tagged_frame(vm_mac(2), vm_mac(from), 3),
                              tagged_frame(vm_mac(99), vm_mac(from), 4)};
  };
  CHECK(b.deliver(0, to_all(0)) == lists{{}, {}, {2, 3, 4}, {2, 4}});
  CHECK(b.drops[drop_reason::port_isolated] == 1); // what a flood leaves out is no drop
  CHECK(b.deliver(1, to_all(1)) == lists{{}, {}, {2, 3, 4}, {2, 4}});
  CHECK(b.drops.total() == 1);
  CHECK(b.deliver(2, {tagged_frame(vm_mac(0), vm_mac(2), 1), tagged_frame(vm_mac(1), vm_mac(2), 2),
                      tagged_frame(broadcast_mac, vm_mac(2), 3)}) ==
        lists{{1, 3}, {2, 3}, {}, {3}});
  b.table.change({1, 1}, {});
  CHECK(b.deliver(0, {tagged_frame(vm_mac(1), vm_mac(0), 7)}) == lists{{}, {7}, {}, {}});
}

TEST_CASE("a burst of one flow to an isolated port is dropped as a whole") {
  bench b;
  b.learn(1, 1);
  b.table.change({0, 1}, {.isolated = true});
  b.table.change({1, 1}, {.isolated = true});
  const std::vector<frame> frames(20, tagged_frame(vm_mac(1), vm_mac(0), 1));
  auto in = b.make(frames);
  in.mark_one_flow();
  CHECK(b.collect(b.table.process({0, 1}, in, 0)) == lists(4));
  CHECK(b.drops[drop_reason::port_isolated] == 20);
}

TEST_CASE("a port that is down sends nothing, gets nothing, and its addresses are forgotten") {
  bench b;
  b.learn(0, 0);
  b.learn(1, 1);
  b.table.change({1, 1}, {.down = true});
  CHECK(b.table.is_down(1));
  CHECK(b.table.table().size_behind(1) == 0);
  CHECK(b.deliver(0, {tagged_frame(vm_mac(1), vm_mac(0), 1),
                      tagged_frame(broadcast_mac, vm_mac(0), 2)}) == lists{{}, {}, {1, 2}, {1, 2}});
  CHECK(b.drops.total() == 0); // they have reached others
  CHECK(b.deliver(1, {tagged_frame(vm_mac(0), vm_mac(1), 1),
                      tagged_frame(broadcast_mac, vm_mac(1), 2)}) == lists(4));
  CHECK(b.drops[drop_reason::port_down] == 2);
  CHECK(b.table.table().size_behind(1) == 0);
  b.table.change({1, 1}, {});
  CHECK(b.deliver(1, {tagged_frame(vm_mac(0), vm_mac(1), 3)}) == lists{{3}, {}, {}, {}});
  CHECK(b.deliver(0, {tagged_frame(vm_mac(1), vm_mac(0), 4)}) == lists{{}, {4}, {}, {}});
}

TEST_CASE("flags end with their port, and those for one that has gone change nothing") {
  bench b;
  b.table.change({1, 1}, {.isolated = true, .down = true});
  b.table.detach({1, 1});
  CHECK_FALSE(b.table.is_down(1));
  b.table.attach({1, 2});
  b.table.change({1, 1}, {.down = true});
  CHECK_FALSE(b.table.is_down(1));
  b.table.detach({1, 2});
  b.table.attach({1, 3}, {.down = true});
  CHECK(b.table.is_down(1));
}

TEST_CASE("vde-2#49: tagged frames pass as they are") {
  bench b;
  b.learn(1, 1);
  const auto plain = tagged_frame(vm_mac(1), vm_mac(0), 1, 100);
  const auto with_tag = test::tagged(plain, 42);
  const auto in = b.make(with_tag);
  const auto outcome = b.table.process({0, 1}, in, 0);
  REQUIRE(outcome.unicasts.size() == 1);
  CHECK(frames_of(outcome.unicasts[0].frames) == std::vector<frame>{with_tag});
}

TEST_CASE("a port over its limit of addresses is still served, its new ones are counted") {
  forwarding table{{1000, 2, 300}, 7};
  table.attach({0, 1});
  table.attach({1, 1});
  burst_maker make;
  std::vector<frame> frames;
  for (std::uint32_t i = 0; i < 5; ++i)
    frames.push_back(tagged_frame(broadcast_mac, vm_mac(i), static_cast<std::uint8_t>(i)));
  const auto in = make(frames);
  const auto outcome = table.process({0, 1}, in, 0);
  CHECK(outcome.not_learned == 3);
  REQUIRE(outcome.flood);
  CHECK(outcome.flood->frames() == 5);
}

TEST_CASE("nothing is copied: what leaves is the slab that came in") {
  bench b;
  b.learn(1, 1);
  const auto in = b.make(std::vector<frame>{tagged_frame(vm_mac(1), vm_mac(0), 1),
                                            tagged_frame(broadcast_mac, vm_mac(0), 2)});
  const auto outcome = b.table.process({0, 1}, in, 0);
  REQUIRE(outcome.unicasts.size() == 1);
  CHECK(outcome.unicasts[0].frames.memory() == in.memory());
  CHECK(outcome.flood->memory() == in.memory());
}

} // namespace vmswitch
