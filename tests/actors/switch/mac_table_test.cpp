#include "actors/switch/mac_table.hpp"

#include <unordered_map>

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"
#include "tests/support/seeded_random.hpp"

namespace vmswitch {

using test::vm_mac;

namespace {

constexpr mac_table::limits roomy{1000, 1000, 300};

} // namespace

TEST_CASE("an address that was never seen is behind no slot") {
  mac_table table{roomy, 1};
  CHECK(table.find(vm_mac(1), 0) == mac_table::no_slot);
  CHECK(table.find(mac_address{}, 0) == mac_table::no_slot);
}

TEST_CASE("an address is found behind the slot where it was seen last") {
  mac_table table{roomy, 1};
  CHECK(table.learn(vm_mac(1), 3, 0) == mac_table::learned::added);
  CHECK(table.learn(vm_mac(1), 3, 1) == mac_table::learned::known);
  CHECK(table.find(vm_mac(1), 1) == 3);
  CHECK(table.learn(vm_mac(1), 4, 2) == mac_table::learned::moved);
  CHECK(table.find(vm_mac(1), 2) == 4);
  CHECK(table.size_behind(3) == 0);
  CHECK(table.size_behind(4) == 1);
}

TEST_CASE("the all-zero address is an address like others") {
  mac_table table{roomy, 1};
  table.learn(mac_address{}, 2, 0);
  CHECK(table.find(mac_address{}, 0) == 2);
}

TEST_CASE("an address is forgotten when it has not been seen for the ageing time") {
  mac_table table{roomy, 1};
  table.learn(vm_mac(1), 3, 100);
  CHECK(table.find(vm_mac(1), 400) == 3);
  CHECK(table.find(vm_mac(1), 401) == mac_table::no_slot);
  SUBCASE("being seen again keeps it") {
    table.learn(vm_mac(1), 3, 400);
    CHECK(table.find(vm_mac(1), 700) == 3);
  }
  SUBCASE("coming back elsewhere is not a move") {
    CHECK(table.learn(vm_mac(1), 5, 401) == mac_table::learned::added);
    CHECK(table.find(vm_mac(1), 401) == 5);
  }
}

TEST_CASE("a clock that wraps does not age what was just seen") {
  mac_table table{roomy, 1};
  table.learn(vm_mac(1), 3, 0xffff'fffe);
  CHECK(table.find(vm_mac(1), 4) == 3);
}

TEST_CASE("a port that uses more addresses than it may keeps those that it has") {
  mac_table table{{1000, 4, 300}, 1};
  for (std::uint32_t i = 0; i < 4; ++i)
    CHECK(table.learn(vm_mac(i), 1, 0) == mac_table::learned::added);
  CHECK(table.learn(vm_mac(4), 1, 0) == mac_table::learned::slot_limit);
  CHECK(table.find(vm_mac(4), 0) == mac_table::no_slot);
  CHECK(table.find(vm_mac(0), 0) == 1);
  SUBCASE("another port is not affected") {
    CHECK(table.learn(vm_mac(4), 2, 0) == mac_table::learned::added);
  }
  SUBCASE("it cannot take addresses from another port either") {
    table.learn(vm_mac(9), 2, 0);
    CHECK(table.learn(vm_mac(9), 1, 0) == mac_table::learned::slot_limit);
    CHECK(table.find(vm_mac(9), 0) == 2);
  }
  SUBCASE("room comes back when addresses age") {
    CHECK(table.learn(vm_mac(4), 1, 301) == mac_table::learned::added);
    CHECK(table.size_behind(1) == 1);
  }
}

TEST_CASE("a full table learns no more until addresses age or their port goes") {
  mac_table table{{8, 8, 300}, 1};
  for (std::uint32_t i = 0; i < 8; ++i)
    table.learn(vm_mac(i), i % 2, 0);
  CHECK(table.learn(vm_mac(8), 2, 0) == mac_table::learned::full);
  table.forget(1);
  CHECK(table.size() == 4);
  CHECK(table.learn(vm_mac(8), 2, 0) == mac_table::learned::added);
}

TEST_CASE("a closed port leaves no trace") {
  mac_table table{roomy, 1};
  for (std::uint32_t i = 0; i < 200; ++i)
    table.learn(vm_mac(i), i % 4, 0);
  table.forget(2);
  for (std::uint32_t i = 0; i < 200; ++i)
    CHECK(table.find(vm_mac(i), 0) == (i % 4 == 2 ? mac_table::no_slot : i % 4));
  CHECK(table.size() == 150);
  CHECK(table.size_behind(2) == 0);
}

TEST_CASE("random use agrees with a slow, obvious table") {
  test::seeded_random random;
  CAPTURE(random.seed());
  struct known {
    std::uint32_t slot;
    std::uint32_t seen;
  };
  std::unordered_map<std::uint64_t, known> model;
  mac_table table{{100'000, 100'000, 50}, random.seed()};
  std::uint32_t now = 0;
  for (int step = 0; step < 200'000; ++step) {
    const auto mac = vm_mac(random.below(3000));
    const std::uint32_t slot = random.below(8);
    now += random.below(64) == 0;
    switch (random.below(16)) {
    case 0:
      if (random.below(100) == 0) {
        table.forget(slot);
        std::erase_if(model, [&](const auto& each) { return each.second.slot == slot; });
      }
      break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
      table.learn(mac, slot, now);
      model[mac.integer()] = {slot, now};
      break;
    default: {
      const auto found = model.find(mac.integer());
      const bool current = found != model.end() && now - found->second.seen <= 50;
      REQUIRE(table.find(mac, now) == (current ? found->second.slot : mac_table::no_slot));
    }
    }
  }
}

TEST_CASE("limits that are changed hold for what is learned from then on") {
  mac_table table{{2, 2, 300}, 1};
  table.learn(vm_mac(1), 1, 0);
  table.learn(vm_mac(2), 1, 0);
  CHECK(table.learn(vm_mac(3), 2, 0) == mac_table::learned::full);
  table.change({3, 2, 300});
  CHECK(table.learn(vm_mac(3), 2, 1) == mac_table::learned::added);
  table.change({1, 1, 10});
  CHECK(table.find(vm_mac(1), 5) == 1); // is not forgotten for that
  CHECK(table.find(vm_mac(1), 20) == mac_table::no_slot);
  CHECK(table.learn(vm_mac(4), 1, 5) == mac_table::learned::slot_limit);
}

} // namespace vmswitch
