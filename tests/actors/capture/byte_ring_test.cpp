#include "actors/capture/byte_ring.hpp"

#include <cstring>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/seeded_random.hpp"

using namespace vmswitch;

namespace {

bool write(byte_ring& ring, std::size_t size, int value) {
  std::byte* const place = ring.reserve(size);
  if (place == nullptr)
    return false;
  std::memset(place, value, size);
  ring.commit(size);
  return true;
}

} // namespace

TEST_SUITE("byte_ring") {

  TEST_CASE("what was committed is read after publish, not before") {
    byte_ring ring{64};
    REQUIRE(write(ring, 10, 1));
    CHECK(ring.readable().empty());
    ring.publish();
    REQUIRE(ring.readable().size() == 10);
    CHECK(ring.readable()[9] == std::byte{1});
    ring.consume(4);
    CHECK(ring.readable().size() == 6);
    ring.consume(6);
    CHECK(ring.readable().empty());
  }

  TEST_CASE("a full ring takes nothing until something has been read") {
    byte_ring ring{64};
    REQUIRE(write(ring, 40, 1));
    REQUIRE(write(ring, 24, 2));
    CHECK(ring.room() == 0);
    CHECK_FALSE(write(ring, 1, 3));
    ring.publish();
    CHECK_FALSE(write(ring, 1, 3));
    ring.consume(ring.readable().size());
    CHECK(write(ring, 64, 3));
  }

  TEST_CASE("a piece that does not fit before the end of the memory stands at its beginning") {
    byte_ring ring{64};
    REQUIRE(write(ring, 50, 1));
    ring.publish();
    ring.consume(30);
    CHECK_FALSE(write(ring, 31, 2)); // there is room for 30 in front
    REQUIRE(write(ring, 30, 2));
    CHECK_FALSE(write(ring, 1, 3));
    ring.publish();
    CHECK(ring.readable().size() == 20);
    ring.consume(20);
    REQUIRE(ring.readable().size() == 30);
    CHECK(ring.readable()[0] == std::byte{2});
  }

  TEST_CASE("memory that is filled to its last byte has no gap") {
    byte_ring ring{64};
    for (int lap = 0; lap < 5; ++lap) {
      REQUIRE(write(ring, 32, lap));
      REQUIRE(write(ring, 32, lap));
      ring.publish();
      REQUIRE(ring.readable().size() == 64);
      CHECK(ring.readable()[0] == static_cast<std::byte>(lap));
      ring.consume(64);
      CHECK(ring.readable().empty());
    }
  }

  TEST_CASE("space that was reserved in vain is no part of the stream") {
    byte_ring ring{64};
    REQUIRE(write(ring, 40, 1));
    ring.publish();
    ring.consume(40);
    REQUIRE(ring.reserve(30) != nullptr);
    ring.publish();
    CHECK(ring.readable().empty());
    CHECK(ring.sleep());
    REQUIRE(write(ring, 5, 2));
    CHECK(ring.publish());
    CHECK(ring.readable().size() == 5);
  }

  TEST_CASE("who sleeps is woken once") {
    byte_ring ring{64};
    write(ring, 1, 1);
    CHECK_FALSE(ring.publish()); // nobody sleeps
    CHECK_FALSE(ring.sleep());   // there is something
    ring.consume(1);
    CHECK(ring.sleep());
    write(ring, 1, 1);
    CHECK(ring.publish());
    write(ring, 1, 1);
    CHECK_FALSE(ring.publish());
  }

  TEST_CASE("two threads: every byte arrives, in order, and nobody sleeps for ever") {
    test::seeded_random random;
    CAPTURE(random.seed());
    byte_ring ring{1024};
    constexpr std::uint32_t numbers = 300'000;
    std::atomic<bool> woken{false};
    std::thread writer{[&] {
      std::uint32_t next = 0;
      while (next < numbers) {
        const auto count = std::min(1 + random.below(60), numbers - next);
        std::byte* const place = ring.reserve(count * sizeof next);
        if (place == nullptr) {
          std::this_thread::yield();
        } else {
          for (std::uint32_t i = 0; i < count; ++i, ++next)
            std::memcpy(place + i * sizeof next, &next, sizeof next);
          ring.commit(count * sizeof next);
        }
        if (ring.publish())
          woken = true;
      }
    }};
    std::uint32_t expected = 0;
    bool in_order = true;
    while (expected < numbers) {
      const auto bytes = ring.readable();
      if (bytes.empty()) {
        if (ring.sleep())
          while (!woken.exchange(false))
            std::this_thread::yield();
        continue;
      }
      for (std::size_t at = 0; at < bytes.size(); at += sizeof expected, ++expected) {
        std::uint32_t value;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        in_order = in_order && value == expected;
      }
      ring.consume(bytes.size());
    }
    writer.join();
    CHECK(in_order);
    CHECK(ring.readable().empty());
  }

} // TEST_SUITE
