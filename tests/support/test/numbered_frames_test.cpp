#include "tests/support/numbered_frames.hpp"

#include <doctest/doctest.h>

#include "tests/support/numbered_batch.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr auto vm_a = mac_address::from_integer(0x5254'0000'000a);
constexpr auto vm_b = mac_address::from_integer(0x5254'0000'000b);
constexpr std::uint32_t sender = 42;

frame number(std::uint64_t sequence, std::size_t size = 60) {
  return numbered_frame(vm_b, vm_a, {sender, sequence}, size);
}

sequence_checker after(std::initializer_list<std::uint64_t> sequences) {
  sequence_checker checker{sender};
  for (const auto sequence : sequences)
    checker.on_frame(number(sequence));
  return checker;
}

} // namespace

TEST_CASE("frames that come once each and in order are perfect") {
  const auto checker = after({0, 1, 2, 3});
  CHECK(checker.perfect(4));
  CHECK_FALSE(checker.perfect(5));
  CHECK_FALSE(checker.perfect(3));
}

TEST_CASE("a missing frame is lost, be it the first, one in the middle or the last") {
  CHECK(after({1, 2, 3}).lost(4) == 1);
  CHECK(after({0, 2, 3}).lost(4) == 1);
  CHECK(after({0, 1, 2}).lost(4) == 1);
  CHECK(after({}).lost(4) == 4);
  CHECK_FALSE(after({0, 2, 3}).perfect(4));
}

TEST_CASE("a frame that arrives late is reordered, not lost") {
  const auto checker = after({0, 2, 1, 3});
  CHECK(checker.reordered() == 1);
  CHECK(checker.lost(4) == 0);
  CHECK(checker.duplicated() == 0);
  CHECK_FALSE(checker.perfect(4));
}

TEST_CASE("a frame that arrives twice is duplicated, at once or much later") {
  CHECK(after({0, 0, 1}).duplicated() == 1);
  CHECK(after({0, 1, 2, 3, 0}).duplicated() == 1);
  CHECK(after({0, 1, 2, 3, 0}).received() == 4);
  CHECK_FALSE(after({0, 0, 1}).perfect(2));
}

TEST_CASE("a duplicate does not hide a loss") {
  const auto checker = after({0, 0, 2, 2});
  CHECK(checker.lost(3) == 1);
  CHECK(checker.duplicated() == 2);
}

TEST_CASE("what another sender sent, or nobody numbered, is foreign") {
  auto checker = after({0});
  checker.on_frame(numbered_frame(vm_b, vm_a, {sender + 1, 1}, 60));
  checker.on_frame(arp_request(vm_a, {1}, {2}));
  checker.on_frame({});
  CHECK(checker.foreign() == 3);
  CHECK(checker.received() == 1);
  CHECK_FALSE(checker.perfect(1));
}

TEST_CASE("an absurd number is foreign and costs no memory") {
  auto checker = after({0});
  checker.on_frame(number(sequence_checker::largest_sequence + 1));
  checker.on_frame(number(~std::uint64_t{0}));
  CHECK(checker.foreign() == 2);
}

TEST_CASE("one flipped bit anywhere is noticed") {
  const auto sound = number(7, 80);
  for (std::size_t at = ethernet_header_size; at < sound.size(); ++at) {
    auto damaged = sound;
    damaged[at] ^= std::byte{1};
    sequence_checker checker{sender};
    checker.on_frame(damaged);
    CAPTURE(at);
    CHECK(checker.damaged() + checker.foreign() == 1);
  }
}

TEST_CASE("a frame that was cut short or grew is damaged") {
  auto cut = number(7, 80);
  cut.pop_back();
  auto grown = number(8, 80);
  grown.push_back({});
  sequence_checker checker{sender};
  checker.on_frame(cut);
  checker.on_frame(grown);
  CHECK(checker.damaged() == 2);
}

TEST_CASE("a frame with the bytes of another one is damaged") {
  auto mixed = number(7, 80);
  const auto other = number(8, 80);
  std::copy(other.begin() + 60, other.end(), mixed.begin() + 60);
  sequence_checker checker{sender};
  checker.on_frame(mixed);
  CHECK(checker.damaged() == 1);
}

TEST_CASE("every size from the smallest to the largest frame can be numbered") {
  for (const std::size_t size :
       {smallest_numbered_frame, std::size_t{60}, std::size_t{1514}, std::size_t{65'550}}) {
    sequence_checker checker{sender};
    checker.on_frame(number(0, size));
    CAPTURE(size);
    CHECK(checker.perfect(1));
  }
}

TEST_CASE("batches go on numbering where the last one ended") {
  numbered_batch source{vm_b, vm_a, sender, 100, 3};
  sequence_checker checker{sender};
  for (int batch = 0; batch < 4; ++batch) {
    auto rest = source.next();
    while (!rest.empty()) {
      const auto length = read_prefix(rest.data());
      checker.on_frame(rest.subspan(prefix_size, length));
      rest = rest.subspan(prefix_size + length);
    }
  }
  CHECK(source.frames() == 12);
  CHECK(checker.perfect(12));
}

TEST_CASE("the summary names the first frame that was lost") {
  CHECK(after({0, 1, 3}).summary(4) == "sent 4, received 3, lost 1 (first 2), reordered 0, "
                                       "duplicated 0, damaged 0, foreign 0");
}
