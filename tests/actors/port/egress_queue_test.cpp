#include "actors/port/egress_queue.hpp"

#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"

namespace vmswitch {

using namespace std::chrono_literals;
using test::burst_maker;
using test::frame;
using test::tagged_frame;
using test::vm_mac;

namespace {

// A queue with a receiver that takes as many bytes as it is told to.
struct bench {
  egress_queue queue{8, 50ms};
  burst_maker make;
  egress_queue::clock::time_point now{};
  std::vector<std::byte> sent;

  burst frames(std::uint8_t count, std::size_t size = 60, std::uint8_t first = 0) {
    std::vector<frame> made;
    for (std::uint8_t i = 0; i < count; ++i)
      made.push_back(
          tagged_frame(vm_mac(1), vm_mac(0), static_cast<std::uint8_t>(first + i), size));
    return make(made);
  }

  /// A link that accepts at most `bytes`.
  void take(std::size_t bytes) {
    std::array<iovec, 64> wire;
    const auto count = queue.gather(wire);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < count && taken < bytes; ++i) {
      const auto* from = static_cast<const std::byte*>(wire[i].iov_base);
      const std::size_t part = std::min(bytes - taken, wire[i].iov_len);
      sent.insert(sent.end(), from, from + part);
      taken += part;
    }
    queue.accepted(taken, now);
  }

  /// The tags of the whole frames received so far; fails the test if the framing is lost.
  std::vector<int> received() {
    std::vector<int> tags;
    std::size_t at = 0;
    while (at + prefix_size <= sent.size()) {
      const auto length = read_prefix(sent.data() + at);
      REQUIRE(length >= 15);
      REQUIRE(length <= 9000);
      if (at + prefix_size + length > sent.size())
        break;
      tags.push_back(test::tag_of(std::span{sent}.subspan(at + prefix_size, length)));
      at += prefix_size + length;
    }
    return tags;
  }
};

} // namespace

TEST_CASE("what is pushed leaves in order, as one range for neighbours") {
  bench b;
  b.queue.push(b.frames(3), b.now);
  std::array<iovec, 4> wire;
  CHECK(b.queue.gather(wire) == 1);
  CHECK(wire[0].iov_len == 3 * 64);
  b.take(1000);
  CHECK(b.received() == std::vector<int>{0, 1, 2});
  CHECK(b.queue.empty());
  CHECK(b.queue.frames_out() == 3);
  CHECK(b.queue.bytes_out() == 180);
}

TEST_CASE("a receiver that takes one byte at a time gets every byte once") {
  bench b;
  b.queue.push(b.frames(3), b.now);
  b.make.release();
  b.queue.push(b.frames(2, 60, 3), b.now);
  while (!b.queue.empty())
    b.take(1);
  CHECK(b.received() == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(b.queue.frames_out() == 5);
}

TEST_CASE("a slab is let go with the last byte of its burst") {
  bench b;
  b.queue.push(b.frames(2), b.now);
  b.make.release();
  CHECK(b.make.slabs_out() == 1);
  b.take(127);
  CHECK(b.make.slabs_out() == 1);
  b.take(1);
  CHECK(b.make.slabs_out() == 0);
}

TEST_CASE("small bursts that follow each other in a slab take one place in the queue") {
  bench b;
  for (std::uint8_t i = 0; i < 50; ++i)
    b.queue.push(b.frames(1, 60, i), b.now);
  CHECK(b.queue.bursts() == 1);
  b.take(100000);
  CHECK(b.received().size() == 50);
  CHECK(b.queue.drops().total() == 0);
}

TEST_CASE("a queue at its limit of bursts drops what comes, and says so") {
  bench b;
  for (std::uint8_t i = 0; i < 10; ++i) {
    b.queue.push(b.frames(1, 60, i), b.now);
    b.make.release(); // another slab: cannot be merged
  }
  CHECK(b.queue.bursts() == 8);
  CHECK(b.queue.drops()[drop_reason::egress_full] == 2);
  b.take(100000);
  CHECK(b.received() == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a frame that waited for the deadline is dropped, one a moment younger is not") {
  bench b;
  b.queue.push(b.frames(2, 60, 0), b.now);
  b.queue.blocked(b.now);
  b.now += 10ms;
  b.take(1); // progress, so that the receiver is slow rather than stalled
  b.now += 30ms;
  b.queue.push(b.frames(2, 60, 10), b.now);
  b.queue.expire(b.now + 9ms);
  CHECK(b.queue.drops().total() == 0);
  const auto next = b.queue.expire(b.now + 10ms);
  CHECK(b.queue.drops()[drop_reason::egress_expired] == 1); // the first is half sent
  REQUIRE(next);
  CHECK(*next == b.now + 25ms); // too slow once: less patience from here on
}

TEST_CASE("a half-written frame is completed before anything else") {
  bench b;
  b.queue.push(b.frames(3, 1000), b.now);
  b.take(1004 + 300); // one whole frame and a part of the second
  b.queue.blocked(b.now);
  b.make.release();
  b.now += 50ms;
  b.queue.expire(b.now);
  CHECK(b.queue.drops().total() == 1);
  CHECK(b.make.slabs_out() == 0); // even the half-written frame holds no slab
  CHECK_FALSE(b.queue.empty());
  b.queue.unblocked();
  b.queue.push(b.frames(1, 60, 9), b.now);
  b.take(100000);
  CHECK(b.received() == std::vector<int>{0, 1, 9});
  CHECK(b.queue.frames_out() == 3);
  CHECK(b.queue.bytes_out() == 2060);
}

TEST_CASE("a half-written prefix is completed too") {
  for (std::size_t cut = 1; cut < 64; ++cut) {
    CAPTURE(cut);
    bench b;
    b.queue.push(b.frames(2), b.now);
    b.take(cut);
    b.queue.blocked(b.now);
    b.queue.expire(b.now + 50ms);
    b.queue.unblocked();
    b.queue.push(b.frames(1, 60, 7), b.now);
    b.take(1000);
    CHECK(b.received() == std::vector<int>{0, 7});
  }
}

TEST_CASE("a receiver that took nothing for a deadline holds nobody up again") {
  bench b;
  b.queue.push(b.frames(1), b.now);
  b.queue.blocked(b.now);
  b.queue.expire(b.now + 49ms);
  CHECK_FALSE(b.queue.stalled());
  b.queue.expire(b.now + 50ms);
  CHECK(b.queue.stalled());
  CHECK(b.queue.drops()[drop_reason::egress_expired] == 1);
  b.queue.push(b.frames(5), b.now + 51ms);
  CHECK(b.queue.empty());
  CHECK(b.queue.drops()[drop_reason::egress_stalled] == 5);
  SUBCASE("until its link can be written again") {
    b.queue.unblocked();
    b.queue.push(b.frames(1, 60, 3), b.now + 60ms);
    b.take(1000);
    CHECK(b.received() == std::vector<int>{3});
  }
}

TEST_CASE("a receiver that is slow, but reads, is never taken for stalled") {
  bench b;
  for (int i = 0; i < 20; ++i) {
    b.queue.push(b.frames(2), b.now);
    b.queue.blocked(b.now);
    b.now += 30ms;
    b.take(64);
    b.queue.expire(b.now);
    CHECK_FALSE(b.queue.stalled());
  }
  CHECK(b.queue.drops()[drop_reason::egress_expired] > 0);
  CHECK(b.queue.drops()[drop_reason::egress_stalled] == 0);
}

TEST_CASE("a receiver that drips holds its senders up for less and less") {
  bench b;
  const auto held_for = [&] { // until what has just come is dropped
    b.queue.push(b.frames(4), b.now);
    b.queue.blocked(b.now);
    b.make.release();
    const auto begin = b.now;
    while (b.make.slabs_out() > 0) {
      b.now += 1ms;
      b.take(1); // it does read
      b.queue.blocked(b.now);
      b.queue.expire(b.now);
    }
    return b.now - begin;
  };
  CHECK(held_for() == 50ms);
  CHECK(held_for() == 25ms);
  CHECK(held_for() == 13ms);
  for (int i = 0; i < 5; ++i)
    held_for();
  CHECK(held_for() <= 3ms);
  SUBCASE("and has the whole deadline again when it has taken everything") {
    b.take(100'000);
    b.queue.push(b.frames(1), b.now);
    b.take(100'000);
    CHECK(b.queue.empty());
    CHECK(held_for() == 50ms);
  }
}

TEST_CASE("a stalled receiver whose link cannot tell is tried without waiting") {
  bench b;
  b.queue.push(b.frames(1), b.now);
  b.queue.blocked(b.now);
  b.queue.expire(b.now + 50ms);
  REQUIRE(b.queue.stalled());
  SUBCASE("what it does not take is dropped at once") {
    b.queue.begin_probe(b.frames(2), b.now);
    b.take(0);
    b.queue.end_probe();
    CHECK(b.queue.empty());
    CHECK(b.queue.stalled());
    CHECK(b.queue.drops()[drop_reason::egress_stalled] == 2);
  }
  SUBCASE("what it takes ends the stall, the rest waits as usual") {
    b.queue.begin_probe(b.frames(2), b.now);
    b.take(64);
    b.queue.end_probe();
    CHECK_FALSE(b.queue.stalled());
    CHECK(b.queue.bursts() == 1);
  }
}

TEST_CASE("closing accounts for every frame") {
  bench b;
  b.queue.push(b.frames(5), b.now);
  b.take(64 + 10);
  b.queue.close();
  CHECK(b.queue.empty());
  CHECK(b.queue.drops()[drop_reason::port_closed] == 3);
}

TEST_CASE("limits that are changed hold for what waits already") {
  bench b;
  b.queue.push(b.frames(1), b.now);
  b.queue.blocked(b.now);
  b.queue.change_limits(2, 200ms);
  b.queue.expire(b.now + 100ms);
  CHECK(b.queue.bursts() == 1);
  b.queue.push(b.frames(1), b.now + 100ms);
  b.queue.push(b.frames(1), b.now + 150ms);
  CHECK(b.queue.drops()[drop_reason::egress_full] == 1);
  b.queue.change_limits(8, 10ms);
  b.queue.expire(b.now + 150ms);
  CHECK(b.queue.empty());
}

} // namespace vmswitch
