#include "transport/frame/burst.hpp"

#include <doctest/doctest.h>

#include "tests/transport/wire.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// Puts a frame in wire form at `at`; returns its end.
std::uint32_t put(const slab_ref& memory, std::uint32_t at, const bytes& frame) {
  const bytes whole = wire(frame);
  std::copy(whole.begin(), whole.end(), memory->data() + at);
  return at + static_cast<std::uint32_t>(whole.size());
}

} // namespace

TEST_SUITE("burst") {

  TEST_CASE("an empty burst has no frames, bytes or ranges") {
    const burst none;
    CHECK(none.empty());
    CHECK(none.ranges().empty());
    none.for_each_frame([](auto) { FAIL("a frame out of nothing"); });
  }

  TEST_CASE("neighbours share a range, others do not, and order is kept") {
    const auto pool = pool_of(1);
    const slab_ref memory = pool->acquire();
    burst b{memory};
    const auto first_end = put(memory, 0, pattern(60, 1));
    const auto second_end = put(memory, first_end, pattern(100, 2));
    b.append(0, first_end, 1);
    b.append(first_end, second_end, 1);
    CHECK(b.ranges().size() == 1);
    const auto third_end = put(memory, second_end + 10, pattern(14, 3));
    b.append(second_end + 10, third_end, 1);
    const auto fourth_end = put(memory, third_end, pattern(70, 4));
    b.append(third_end, fourth_end, 1);
    REQUIRE(b.ranges().size() == 2);
    CHECK(b.ranges()[0] == frame_range{0, second_end});
    CHECK(b.ranges()[1] == frame_range{second_end + 10, fourth_end});
    CHECK(b.frames() == 4);
    CHECK(b.frame_bytes() == 60 + 100 + 14 + 70);
    CHECK(b.wire_bytes() == b.frame_bytes() + 4 * 4);
    CHECK(frames_of(b) ==
          frame_list{pattern(60, 1), pattern(100, 2), pattern(14, 3), pattern(70, 4)});
  }

  TEST_CASE("a copy keeps the slab, the last one gives it back") {
    const auto pool = pool_of(1);
    auto original = std::make_unique<burst>(pool->acquire());
    original->append(0, put(original->memory(), 0, pattern(60)), 1);
    auto copy = std::make_unique<burst>(*original);
    original.reset();
    CHECK(frames_of(*copy) == frame_list{pattern(60)});
    CHECK(pool->outstanding() == 1);
    copy.reset();
    CHECK(pool->outstanding() == 0);
  }

  TEST_CASE("bursts of one slab that follow on merge, with or without a gap") {
    const auto pool = pool_of(1);
    const slab_ref memory = pool->acquire();
    const auto a_end = put(memory, 0, pattern(60, 1));
    const auto b_end = put(memory, a_end, pattern(60, 2));
    const auto c_end = put(memory, b_end + 100, pattern(60, 3));
    burst a{memory};
    a.append(0, a_end, 1);
    burst b{memory};
    b.append(a_end, b_end, 1);
    burst c{memory};
    c.append(b_end + 100, c_end, 1);
    CHECK(a.merge(b));
    CHECK(a.ranges().size() == 1);
    CHECK(a.merge(c));
    CHECK(a.ranges().size() == 2);
    CHECK(a.frames() == 3);
    CHECK(frames_of(a) == frame_list{pattern(60, 1), pattern(60, 2), pattern(60, 3)});
  }

  TEST_CASE("bursts of other slabs, from further ahead, or without frames do not merge") {
    const auto pool = pool_of(2);
    const slab_ref memory = pool->acquire();
    const slab_ref other = pool->acquire();
    burst a{memory};
    a.append(100, put(memory, 100, pattern(60)), 1);
    burst elsewhere{other};
    elsewhere.append(200, put(other, 200, pattern(60)), 1);
    burst before{memory};
    before.append(0, put(memory, 0, pattern(60)), 1);
    CHECK_FALSE(a.merge(elsewhere));
    CHECK_FALSE(a.merge(before));
    CHECK_FALSE(a.merge(burst{memory}));
    CHECK_FALSE(burst{memory}.merge(a));
    CHECK(a.frames() == 1);
  }

  TEST_CASE("a burst is one flow only for as long as nothing is added") {
    const auto pool = pool_of(1);
    const slab_ref memory = pool->acquire();
    const auto first_end = put(memory, 0, pattern(60, 1));
    const auto second_end = put(memory, first_end, pattern(60, 2));
    burst more{memory};
    more.append(first_end, second_end, 1);
    for (const bool merges : {false, true}) {
      CAPTURE(merges);
      burst b{memory};
      b.append(0, first_end, 1);
      CHECK_FALSE(b.one_flow());
      b.mark_one_flow();
      CHECK(burst{b}.one_flow());
      if (merges)
        REQUIRE(b.merge(more));
      else
        b.append(first_end, second_end, 1);
      CHECK_FALSE(b.one_flow());
    }
  }

} // TEST_SUITE
