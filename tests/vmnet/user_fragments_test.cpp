#include "vmnet/user_fragments.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/seeded_random.hpp"
#include "tests/vmnet/fragments.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using std::chrono::milliseconds;

namespace {

route way_from(unsigned vm) {
  return {mac_address::from_integer(0x5254'0000'0000 + vm),
          mac_address::from_integer(0x5255'c0a8'6901), ipv4_address{0xc0a8'690a + vm},
          ipv4_address{0x0101'0101}};
}

/// A packet with data that differs from place to place.
frame packet(std::size_t length, unsigned vm = 1) {
  std::vector<std::byte> data(length);
  for (std::size_t i = 0; i < length; ++i)
    data[i] = static_cast<std::byte>(i * 7 + i / 256);
  return ipv4(way_from(vm), protocol_udp, data);
}

/// What comes out in one piece when `whole` has come in fragments.
frame unfragmented(const frame& whole, unsigned number = 7) {
  return with_fragmentation(whole, 0, number);
}

/// A packet of the model, and what happens to it: all fragments come once, or one is missing, comes
/// twice, or has another one over it.
struct sent {
  frame whole;
  std::vector<frame> to_come; // the last one first
  bool is_intact = true;
};

sent send(unsigned number, seeded_random& random) {
  sent made{packet(32 + random.below(6000), number), {}};
  auto& all = made.to_come;
  all = in_fragments(made.whole, 8 * (50 + random.below(135)), number);
  const auto any = [&] { return random.below(static_cast<std::uint32_t>(all.size())); };
  for (auto& one : all)
    std::swap(one, all[any()]);
  const auto fate = random.below(6);
  made.is_intact = fate > 2;
  if (fate == 0)
    all.pop_back();
  else if (fate <= 2)
    all.insert(all.begin() + any(),
               fate == 1 ? all[any()] : fragment_of(made.whole, 0, 16, number));
  return made;
}

struct fragments_fixture {
  user_fragments fragments;
  milliseconds now{0};

  /// The packet that the last of them completes.
  frame add(const std::vector<frame>& all) {
    frame made;
    for (const auto& one : all)
      made = add(one);
    return made;
  }
  frame add(const frame& one) {
    const auto got = fragments.add(one, now);
    count = got.came_as.frames;
    return {got.frame.begin(), got.frame.end()};
  }
  bool is_empty() const { return fragments.under_way() == 0; }

  std::size_t count = 0;
};

} // namespace

TEST_SUITE("fragments before the NAT") {
  TEST_CASE_FIXTURE(fragments_fixture, "a packet is whole when its last fragment has come") {
    const auto whole = packet(4000);
    auto all = in_fragments(whole, 1480);
    REQUIRE(all.size() == 3);
    SUBCASE("in order") {}
    SUBCASE("backwards") {
      std::ranges::reverse(all);
    }
    SUBCASE("the first one last") {
      std::swap(all[0], all[2]);
    }
    CHECK(add(all[0]).empty());
    CHECK(add(all[1]).empty());
    CHECK(add(all[2]) == unfragmented(whole));
    CHECK(count == 3);
    CHECK(is_empty());
    CHECK(fragments.take_dropped().frames == 0);
  }

  TEST_CASE_FIXTURE(fragments_fixture, "what pads a short frame is no data") {
    const auto whole = packet(18);
    auto all = in_fragments(whole, 16);
    all[1].resize(60);
    CHECK(add(all) == unfragmented(whole));
  }

  TEST_CASE_FIXTURE(fragments_fixture, "a packet has 65535 bytes at most") {
    const auto whole = packet(65'515);
    CHECK(add(in_fragments(whole, 1480)) == unfragmented(whole));
    const auto tail = ipv4(way_from(1), protocol_udp, std::vector<std::byte>(4));
    CHECK(add(with_fragmentation(tail, 65'512 / 8)).empty());
    CHECK(is_empty());
    CHECK(fragments.take_dropped().frames == 1);
  }

  TEST_CASE_FIXTURE(fragments_fixture, "fragments that cannot be are dropped alone") {
    const auto whole = packet(32);
    add(fragment_of(whole, 0, 16));
    const auto odd = ipv4(way_from(1), protocol_udp, std::vector<std::byte>(13));
    add(with_fragmentation(odd, 0x2002));
    const auto nothing = ipv4(way_from(1), protocol_udp, {});
    add(with_fragmentation(nothing, 2));
    add(with_fragmentation(nothing, 0x2002));
    auto damaged = fragment_of(whole, 16, 32);
    damaged[14 + 8] ^= std::byte{1};
    add(damaged);
    CHECK(fragments.take_dropped().frames == 4);
    CHECK(add(fragment_of(whole, 16, 32)) == unfragmented(whole));
  }

  TEST_CASE_FIXTURE(fragments_fixture, "a packet that contradicts itself is discarded") {
    const auto whole = packet(64), shorter = packet(32);
    std::vector<frame> all;
    SUBCASE("an overlap") {
      all = {fragment_of(whole, 0, 32), fragment_of(whole, 24, 64)};
    }
    SUBCASE("one within another") {
      all = {fragment_of(whole, 0, 48), fragment_of(whole, 8, 16)};
    }
    SUBCASE("the same one twice") {
      all = {fragment_of(whole, 0, 16), fragment_of(whole, 0, 16)};
    }
    SUBCASE("data beyond its end") {
      all = {fragment_of(shorter, 16, 32), fragment_of(whole, 32, 48)};
    }
    SUBCASE("an end before its data") {
      all = {fragment_of(whole, 32, 48), fragment_of(shorter, 16, 32)};
    }
    SUBCASE("two ends") {
      all = {fragment_of(shorter, 16, 32), fragment_of(whole, 48, 64)};
    }
    CHECK(add(all).empty());
    CHECK(is_empty());
    CHECK(fragments.take_dropped().frames == 2);
    CHECK(add(in_fragments(whole, 16)) == unfragmented(whole));
  }

  TEST_CASE_FIXTURE(fragments_fixture, "fragments of different packets are never mixed") {
    const auto one = packet(32, 1);
    add(fragment_of(one, 0, 16));
    add(fragment_of(one, 16, 32, 8)); // another number
    auto other = one;
    other[14 + 9] = std::byte{protocol_icmp};
    add(fragment_of(other, 16, 32));
    other = one;
    other[14 + 15] = std::byte{0x77}; // another source
    add(fragment_of(other, 16, 32));
    other = one;
    other[14 + 19] = std::byte{0x77}; // another destination
    add(fragment_of(other, 16, 32));
    other = one;
    other[6 + 5] = std::byte{0x77}; // another VM that takes this one's address
    CHECK(add(fragment_of(other, 16, 32)).empty());
    add(fragment_of(other, 8, 24)); // and contradicts itself
    CHECK(fragments.take_dropped().frames == 2);
    CHECK(add(fragment_of(one, 16, 32)) == unfragmented(one));
  }

  TEST_CASE_FIXTURE(fragments_fixture, "what stays incomplete is discarded after its time") {
    const auto whole = packet(32);
    add(fragment_of(whole, 0, 16));
    now = user_fragments::lifetime - milliseconds{1};
    fragments.expire(now);
    CHECK(!is_empty());
    now += milliseconds{1};
    SUBCASE("when told the time") {
      fragments.expire(now);
    }
    SUBCASE("when the rest comes too late") {
      CHECK(add(fragment_of(whole, 16, 32)).empty());
      CHECK(!is_empty()); // a new one
    }
    CHECK(fragments.take_dropped().frames == 1);
  }

  TEST_CASE_FIXTURE(fragments_fixture, "a VM with too many packets under way loses its oldest") {
    const auto own = packet(32, 1), others = packet(32, 2);
    add(fragment_of(others, 0, 16));
    for (unsigned i = 0; i < user_fragments::most_of_one + 3; ++i)
      add(fragment_of(own, 0, 16, 100 + i));
    CHECK(fragments.take_dropped().frames == 3);
    CHECK(add(fragment_of(others, 16, 32)) == unfragmented(others));
    CHECK(add(fragment_of(own, 16, 32, 102)).empty());
    CHECK(fragments.take_dropped().frames == 1); // it has begun a new one
    CHECK(add(fragment_of(own, 16, 32, 110)) == unfragmented(own, 110));
  }

  TEST_CASE_FIXTURE(fragments_fixture, "with very many VMs the oldest packet of all makes room") {
    const auto late = packet(32, 9999);
    for (unsigned i = 0; i < user_fragments::most + 5; ++i)
      add(fragment_of(packet(32, i), 0, 16));
    CHECK(fragments.take_dropped().frames == 5);
    CHECK(add(in_fragments(late, 16)) == unfragmented(late));
  }

  TEST_CASE("model: whatever comes, it comes out whole, once and unchanged, or is counted") {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      seeded_random random{seed};
      fragments_fixture f;
      std::map<unsigned, sent> under_way;
      std::size_t given = 0, taken = 0, dropped = 0, finished = 0;
      unsigned next = 0;
      for (int step = 0; step < 2000; ++step) {
        while (under_way.size() < 4)
          if (auto made = send(next, random); made.to_come.size() > 1)
            under_way.emplace(next++, std::move(made));
        auto which = under_way.begin();
        std::advance(which, random.below(static_cast<std::uint32_t>(under_way.size())));
        auto& [number, one] = *which;
        ++given;
        if (const auto whole = f.add(one.to_come.back()); !whole.empty()) {
          CHECK(whole == unfragmented(one.whole, number));
          ++finished;
          taken += f.count;
        } else if (one.to_come.size() == 1) {
          CHECK_FALSE(one.is_intact);
        }
        one.to_come.pop_back();
        if (one.to_come.empty())
          under_way.erase(which);
        dropped += f.fragments.take_dropped().frames;
        f.now += milliseconds{20};
      }
      CHECK(finished > 100);
      f.fragments.expire(f.now + user_fragments::lifetime);
      CHECK(f.is_empty());
      CHECK(given == taken + dropped + f.fragments.take_dropped().frames);
    }
  }
}
