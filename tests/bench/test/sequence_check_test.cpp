#include <doctest/doctest.h>

#include "tests/bench/vm/sequence_check.hpp"

using vmswitch::bench::sequence_check;

namespace {

sequence_check after(std::initializer_list<std::uint64_t> numbers) {
  sequence_check check;
  for (const std::uint64_t number : numbers)
    check.receive(number);
  return check;
}

} // namespace

TEST_CASE("frames in order: nothing is lost, reordered or duplicated") {
  const auto check = after({0, 1, 2, 3});
  CHECK(check.lost(4) == 0);
  CHECK(check.reordered() == 0);
  CHECK(check.duplicated() == 0);
}

TEST_CASE("a gap and a missing tail are lost frames") {
  const auto check = after({0, 3, 4});
  CHECK(check.lost(5) == 2);
  CHECK(check.lost(7) == 4);
}

TEST_CASE("no frame at all: all are lost") {
  CHECK(sequence_check{}.lost(3) == 3);
}

TEST_CASE("a late frame fills its gap and counts as reordered, not as lost") {
  const auto check = after({0, 4, 2, 1, 3});
  CHECK(check.lost(5) == 0);
  CHECK(check.reordered() == 3);
  CHECK(check.duplicated() == 0);
}

TEST_CASE("a frame that comes twice is a duplicate, in order or late") {
  const auto check = after({0, 0, 3, 1, 1, 3, 0});
  CHECK(check.duplicated() == 4);
  CHECK(check.reordered() == 1);
  CHECK(check.lost(4) == 1);
}
