#include "actors/port/ingress_buffer.hpp"

#include <cstring>
#include <random>

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"

namespace vmswitch {

using test::append_wire_form;
using test::frame;
using test::frames_of;
using test::tagged_frame;
using test::vm_mac;

namespace {

struct bench {
  explicit bench(std::size_t budget = 4, std::uint32_t max_frame = 1518)
      : pool{slab_pool::create(std::make_shared<slab_stock>(4), budget, [this] { ++returns; })},
        buffer{pool, max_frame} {}

  int returns = 0;
  std::shared_ptr<slab_pool> pool;
  ingress_buffer buffer;

  /// Feeds all bytes, at most `chunk` at a time, and returns the bursts.
  std::vector<burst> feed(std::span<const std::byte> bytes, std::size_t chunk) {
    std::vector<burst> bursts;
    while (!bytes.empty()) {
      const auto space = buffer.space();
      REQUIRE(space.size() >= 1522);
      const std::size_t part = std::min({chunk, bytes.size(), space.size()});
      std::memcpy(space.data(), bytes.data(), part);
      bytes = bytes.subspan(part);
      auto outcome = buffer.received(part);
      if (!outcome.frames.empty())
        bursts.push_back(std::move(outcome.frames));
    }
    return bursts;
  }
};

std::vector<frame> numbered(std::size_t count, std::size_t size) {
  std::vector<frame> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back(tagged_frame(vm_mac(1), vm_mac(0), static_cast<std::uint8_t>(i), size));
  return made;
}

std::vector<std::byte> wire(const std::vector<frame>& frames) {
  std::vector<std::byte> bytes;
  for (const auto& each : frames)
    append_wire_form(bytes, each);
  return bytes;
}

std::vector<frame> all(const std::vector<burst>& bursts) {
  std::vector<frame> frames;
  for (const auto& each : bursts)
    for (auto& bare : frames_of(each))
      frames.push_back(std::move(bare));
  return frames;
}

} // namespace

TEST_CASE("frames are found however the stream is cut, across slabs too") {
  const auto frames = numbered(300, 1514); // 450 KB: several slabs
  for (const std::size_t chunk : {1u, 7u, 1518u, 4096u, 65536u, 1'000'000u}) {
    CAPTURE(chunk);
    bench b;
    std::vector<frame> found;
    auto bytes = wire(frames);
    for (std::size_t at = 0; at < bytes.size(); at += 100'000) // bursts are let go in between
      for (auto& each : all(b.feed(
               std::span{bytes}.subspan(at, std::min<std::size_t>(100'000, bytes.size() - at)),
               chunk)))
        found.push_back(std::move(each));
    CHECK(found == frames);
    CHECK(b.buffer.partial_bytes() == 0);
  }
}

TEST_CASE("frames that were handed out stay as they are while reading goes on") {
  bench b{8};
  const auto frames = numbered(400, 1514);
  const auto bursts = b.feed(wire(frames), 5000);
  CHECK(all(bursts) == frames);
}

TEST_CASE("reading stops at the slab budget and goes on when a slab comes back") {
  bench b{2};
  const auto frames = numbered(400, 1514);
  const auto bytes = wire(frames);
  std::size_t at = 0;
  std::vector<burst> held;
  for (;;) {
    const auto space = b.buffer.space();
    if (space.empty())
      break;
    const std::size_t part = std::min<std::size_t>({10'000, bytes.size() - at, space.size()});
    REQUIRE(part > 0);
    std::memcpy(space.data(), bytes.data() + at, part);
    at += part;
    held.push_back(b.buffer.received(part).frames);
  }
  CHECK(b.buffer.slabs_out() == 2);
  CHECK(at <= 2 * slab::capacity);
  CHECK(b.returns == 0);
  auto found = all(held);
  held.clear();
  CHECK(b.returns == 1);
  for (auto& each : all(b.feed(std::span{bytes}.subspan(at, 100'000), 10'000)))
    found.push_back(std::move(each));
  CHECK(std::equal(found.begin(), found.end(), frames.begin()));
}

TEST_CASE("a port with nothing to read holds no slab") {
  bench b;
  b.feed(wire(numbered(3, 60)), 1000);
  b.buffer.idle();
  CHECK(b.buffer.slabs_out() == 0);
  SUBCASE("but it keeps the one that holds a partial frame") {
    const auto bytes = wire(numbered(1, 60));
    b.feed(std::span{bytes}.first(10), 10);
    b.buffer.idle();
    CHECK(b.buffer.slabs_out() == 1);
    CHECK(all(b.feed(std::span{bytes}.subspan(10), 100)) == numbered(1, 60));
  }
}

TEST_CASE("the largest frame of a jumbo network passes") {
  constexpr std::uint32_t largest = 65520 + 18;
  bench b{4, largest};
  const auto frames = numbered(5, largest);
  std::vector<frame> found;
  for (const auto& each : frames)
    for (auto& bare : all(b.feed(wire({each}), 50'000)))
      found.push_back(std::move(bare));
  CHECK(found == frames);
}

} // namespace vmswitch
