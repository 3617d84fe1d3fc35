#include "transport/frame/burst_builder.hpp"

#include <doctest/doctest.h>

#include "tests/transport/wire.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {
using outcome = burst_builder::outcome;
constexpr std::size_t largest = slab::capacity - prefix_size;
} // namespace

TEST_SUITE("burst_builder") {

  TEST_CASE("frames are copied, in order, into one range") {
    burst_builder builder{pool_of(1)};
    CHECK(builder.empty());
    bytes frame = pattern(60, 1);
    CHECK(builder.append(frame) == outcome::added);
    frame.assign(60, std::byte{0});
    CHECK(builder.append(pattern(14, 2)) == outcome::added);
    const burst built = builder.take();
    CHECK(frames_of(built) == frame_list{pattern(60, 1), pattern(14, 2)});
    CHECK(built.ranges().size() == 1);
    CHECK(builder.empty());
    CHECK(builder.take().empty());
  }

  TEST_CASE("a slab without room for the next frame is full until it is taken") {
    burst_builder builder{pool_of(2)};
    REQUIRE(builder.append(pattern(largest - 100)) == outcome::added);
    CHECK(builder.append(pattern(97)) == outcome::full);
    const burst first = builder.take();
    CHECK(builder.append(pattern(97, 2)) == outcome::added);
    CHECK(frames_of(first) == frame_list{pattern(largest - 100)});
    CHECK(frames_of(builder.take()) == frame_list{pattern(97, 2)});
  }

  TEST_CASE("the largest frame fills a slab exactly") {
    burst_builder builder{pool_of(1)};
    CHECK(builder.append(pattern(largest)) == outcome::added);
    CHECK(frames_of(builder.take()) == frame_list{pattern(largest)});
  }

  TEST_CASE("with the budget out nothing is added, until a burst is dropped") {
    burst_builder builder{pool_of(1)};
    REQUIRE(builder.append(pattern(largest)) == outcome::added);
    burst held = builder.take();
    CHECK(builder.append(pattern(60)) == outcome::exhausted);
    CHECK(builder.empty());
    held = {};
    CHECK(builder.append(pattern(60)) == outcome::added);
  }

  TEST_CASE("memory is written anew only when all that was handed out has come back") {
    burst_builder builder{pool_of(1)};
    builder.append(pattern(60, 1));
    burst first = builder.take();
    builder.append(pattern(60, 2));
    burst second = builder.take();
    CHECK(second.ranges()[0].begin == first.ranges()[0].end);
    CHECK(frames_of(first) == frame_list{pattern(60, 1)});
    first = second = {};
    builder.append(pattern(60, 3));
    CHECK(builder.take().ranges()[0].begin == 0);
  }

  TEST_CASE("a frame may be written in place") {
    burst_builder builder{pool_of(1)};
    outcome why{};
    const auto space = builder.extend(60, why);
    CHECK(why == outcome::added);
    REQUIRE(space.size() == 60);
    const bytes frame = pattern(60);
    std::copy(frame.begin(), frame.end(), space.begin());
    CHECK(frames_of(builder.take()) == frame_list{frame});
  }

  TEST_CASE("a frame may be written in place before its size is known") {
    burst_builder builder{pool_of(1)};
    const auto write = [&](const bytes& frame) {
      outcome why{};
      const auto space = builder.reserve(1000, why);
      REQUIRE(space.size() == 1000);
      std::copy(frame.begin(), frame.end(), space.begin());
      return frame.size();
    };
    builder.commit(write(pattern(60, 1)));
    write(pattern(500, 2)); // and not committed
    builder.commit(write(pattern(14, 3)));
    const burst built = builder.take();
    CHECK(frames_of(built) == frame_list{pattern(60, 1), pattern(14, 3)});
    CHECK(built.ranges().size() == 1);
  }

  TEST_CASE("space that was reserved in vain holds no memory back") {
    const auto pool = pool_of(1);
    burst_builder builder{pool};
    outcome why{};
    REQUIRE_FALSE(builder.reserve(100, why).empty());
    CHECK(builder.empty());
    builder.release();
    CHECK(pool->outstanding() == 0);
    builder.append(pattern(largest - 99));
    CHECK(builder.reserve(100, why).empty());
    CHECK(why == outcome::full);
    const burst held = builder.take();
    CHECK(builder.reserve(100, why).empty());
    CHECK(why == outcome::exhausted);
  }

  TEST_CASE("release gives the slab back once its bursts are gone") {
    const auto pool = pool_of(1);
    burst_builder builder{pool};
    builder.append(pattern(60));
    burst held = builder.take();
    builder.release();
    CHECK(pool->outstanding() == 1);
    held = {};
    CHECK(pool->outstanding() == 0);
  }

} // TEST_SUITE
