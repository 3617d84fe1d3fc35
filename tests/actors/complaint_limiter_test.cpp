#include "actors/complaint_limiter.hpp"

#include <chrono>
#include <string>

#include <doctest/doctest.h>

using namespace vmswitch;
using namespace std::chrono_literals;

namespace {
const complaint_limiter::clock::time_point start{1000s};
}

TEST_CASE("the first complaints of a kind are said, the others counted") {
  complaint_limiter limiter{2, 10s};
  CHECK(limiter.judge("runt", start).say);
  CHECK(limiter.judge("runt", start + 1s).say);
  const auto third = limiter.judge("runt", start + 2s);
  CHECK_FALSE(third.say);
  CHECK(third.first_suppressed);
  const auto fourth = limiter.judge("runt", start + 3s);
  CHECK_FALSE(fourth.say);
  CHECK_FALSE(fourth.first_suppressed);
}

TEST_CASE("the first complaint of the next interval brings the number left out, once") {
  complaint_limiter limiter{1, 10s};
  limiter.judge("runt", start);
  for (int i = 0; i < 5; ++i)
    limiter.judge("runt", start + 9s);
  const auto next = limiter.judge("runt", start + 10s);
  CHECK(next.say);
  CHECK(next.suppressed == 5);
  limiter.judge("runt", start + 11s);
  CHECK(limiter.judge("runt", start + 20s).suppressed == 1);
  CHECK(limiter.judge("runt", start + 30s).suppressed == 0);
}

TEST_CASE("one kind of complaint does not silence another") {
  complaint_limiter limiter{1, 10s};
  CHECK(limiter.judge("runt", start).say);
  CHECK_FALSE(limiter.judge("runt", start).say);
  CHECK(limiter.judge("oversize", start).say);
}

TEST_CASE("the number left out is told after the interval even if no more complaints come") {
  complaint_limiter limiter{1, 10s};
  limiter.judge("runt", start);
  limiter.judge("runt", start);
  limiter.judge("runt", start);
  limiter.judge("oversize", start);
  CHECK(limiter.take_suppressed(start + 9s).empty());
  const auto told = limiter.take_suppressed(start + 10s);
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == "runt");
  CHECK(told[0].suppressed == 2);
  CHECK(limiter.take_suppressed(start + 20s).empty());
  CHECK(limiter.judge("runt", start + 20s).suppressed == 0);
}

TEST_CASE("the table of kinds is limited, and what is beyond it is still limited") {
  complaint_limiter limiter{1, 10s};
  std::size_t said = 0;
  for (int i = 0; i < 10'000; ++i)
    said += limiter.judge("kind " + std::to_string(i), start).say;
  CHECK(said == complaint_limiter::most_kinds);
}

TEST_CASE("the note behind a message") {
  CHECK(suppressed_note(0).empty());
  CHECK(suppressed_note(12) == " (12 more suppressed)");
}
