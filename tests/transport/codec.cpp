#include "transport/codec.hpp"

#include <random>

#include <doctest/doctest.h>

#include "tests/transport/wire.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr std::uint32_t max_frame = 1518;
constexpr std::uint32_t largest = frame_decoder::largest_length;

// What the stream means, one byte after the other.
struct slow_decoder {
  std::vector<bytes> frames;
  std::uint32_t runts = 0;
  std::uint32_t oversize = 0;
  bool framing_lost = false;
  std::uint32_t bad_length = 0;

  void feed(std::byte byte) {
    if (framing_lost)
      return;
    pending.push_back(byte);
    if (pending.size() < 4)
      return;
    std::uint64_t length = 0;
    for (int i = 0; i < 4; ++i)
      length = length * 256 + std::to_integer<unsigned>(pending[static_cast<std::size_t>(i)]);
    if (length > largest) {
      framing_lost = true;
      bad_length = static_cast<std::uint32_t>(length);
    } else if (pending.size() == 4 + length) {
      if (length < 14)
        ++runts;
      else if (length > max_frame)
        ++oversize;
      else
        frames.emplace_back(pending.begin() + 4, pending.end());
      pending.clear();
    }
  }
  bytes pending;
};

stream_receiver decode(const bytes& stream) {
  stream_receiver receiver{max_frame};
  receiver.feed(stream);
  return receiver;
}

} // namespace

TEST_SUITE("codec") {

  TEST_CASE("neighbouring frames, of equal and of different lengths, are one range") {
    bytes stream;
    for (const std::size_t size : {60, 60, 60, 1514, 1514, 14, 60, 1518, 1518})
      append_wire(stream, pattern(size));
    const auto pool = pool_of(1);
    const slab_ref memory = pool->acquire();
    std::copy(stream.begin(), stream.end(), memory->data() + 100);
    burst found{memory};
    frame_decoder decoder{max_frame};
    const auto end = 100 + static_cast<std::uint32_t>(stream.size());
    const auto result = decoder.scan(memory->data(), 100, end, found);
    CHECK(result.consumed == stream.size());
    CHECK(found.frames() == 9);
    REQUIRE(found.ranges().size() == 1);
    CHECK(found.ranges()[0] == frame_range{100, end});
  }

  TEST_CASE("ranges are split only where a frame was left out") {
    bytes stream;
    append_wire(stream, pattern(60));
    append_wire(stream, pattern(60));
    append_wire(stream, pattern(5));
    append_wire(stream, pattern(60));
    append_wire(stream, pattern(2000));
    append_wire(stream, pattern(60));
    const auto pool = pool_of(1);
    const slab_ref memory = pool->acquire();
    std::copy(stream.begin(), stream.end(), memory->data());
    burst found{memory};
    frame_decoder decoder{max_frame};
    const auto result =
        decoder.scan(memory->data(), 0, static_cast<std::uint32_t>(stream.size()), found);
    CHECK(result.consumed == stream.size());
    CHECK(result.skipped.runts == 1);
    CHECK(result.skipped.oversize == 1);
    REQUIRE(found.ranges().size() == 3);
    CHECK(found.ranges()[0] == frame_range{0, 128});
    CHECK(found.ranges()[1] == frame_range{137, 201});
    CHECK(found.ranges()[2] == frame_range{2205, 2269});
    CHECK(found.frames() == 4);
  }

  TEST_CASE(
      "a burst is marked as one flow exactly when all of its frames have the same addresses") {
    const auto is_marked = [](const std::vector<bytes>& frames) {
      bytes stream;
      for (const bytes& each : frames)
        append_wire(stream, each);
      const auto pool = pool_of(1);
      const slab_ref memory = pool->acquire();
      std::copy(stream.begin(), stream.end(), memory->data());
      burst found{memory};
      frame_decoder decoder{max_frame};
      decoder.scan(memory->data(), 0, static_cast<std::uint32_t>(stream.size()), found);
      return found.one_flow();
    };
    const auto changed = [](std::size_t size, std::size_t octet) {
      bytes frame = pattern(size);
      frame[octet] ^= std::byte{1};
      return frame;
    };
    CHECK(is_marked({pattern(14)}));
    CHECK(is_marked({pattern(60), pattern(1514), pattern(14), pattern(60)}));
    for (std::size_t octet = 0; octet < 14; ++octet)
      for (const std::size_t size : {14, 60, 1514}) {
        CAPTURE(octet);
        CAPTURE(size);
        CHECK(is_marked({pattern(60), pattern(60), changed(size, octet)}) == (octet >= 12));
        CHECK(is_marked({changed(size, octet), pattern(60), pattern(60)}) == (octet >= 12));
      }
    CHECK_FALSE(is_marked({}));
    CHECK_FALSE(is_marked({pattern(13)})); // a runt
  }

  TEST_CASE("frames behind others in a burst do not make it one flow") {
    bytes stream;
    append_wire(stream, pattern(60, 1));
    append_wire(stream, pattern(60, 2));
    const auto pool = pool_of(1);
    const slab_ref memory = pool->acquire();
    std::copy(stream.begin(), stream.end(), memory->data());
    burst found{memory};
    frame_decoder decoder{max_frame};
    decoder.scan(memory->data(), 0, 64, found);
    CHECK(found.one_flow());
    decoder.scan(memory->data(), 64, 128, found);
    CHECK_FALSE(found.one_flow());
  }

  TEST_CASE("a partial frame is left, and found once the rest has come") {
    const bytes stream = wire(pattern(60));
    const auto pool = pool_of(1);
    const slab_ref memory = pool->acquire();
    std::copy(stream.begin(), stream.end(), memory->data());
    frame_decoder decoder{max_frame};
    for (std::uint32_t end = 0; end < stream.size(); ++end) {
      CAPTURE(end);
      burst found{memory};
      const auto result = decoder.scan(memory->data(), 0, end, found);
      CHECK(result.consumed == 0);
      CHECK(found.empty());
    }
    burst found{memory};
    CHECK(decoder.scan(memory->data(), 0, 64, found).consumed == 64);
    CHECK(frames_of(found) == frame_list{pattern(60)});
  }

  TEST_CASE("one byte per write delivers every frame once, in order") {
    bytes stream;
    std::vector<bytes> sent;
    for (const std::size_t size : {14, 60, 60, 1514, 1518, 15}) {
      sent.push_back(pattern(size, static_cast<unsigned>(size)));
      append_wire(stream, sent.back());
    }
    stream_receiver receiver{max_frame};
    for (const std::byte byte : stream)
      receiver.feed({&byte, 1});
    CHECK(receiver.frames == sent);
    CHECK(receiver.undecoded() == 0);
  }

  TEST_CASE("a stream may be cut anywhere, headers included") {
    bytes stream;
    const std::vector sent{pattern(60, 1), pattern(14, 2), pattern(61, 3)};
    for (const bytes& frame : sent)
      append_wire(stream, frame);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      CAPTURE(cut);
      stream_receiver receiver{max_frame};
      receiver.feed(std::span{stream}.first(cut));
      receiver.feed(std::span{stream}.subspan(cut));
      CHECK(receiver.frames == sent);
    }
  }

  TEST_CASE("a frame is delivered from an Ethernet header up to max_frame, and only then") {
    struct expectation {
      std::uint32_t length;
      bool frame, runt, oversize;
    };
    for (const expectation& expected : {expectation{0, false, true, false},
                                        {1, false, true, false},
                                        {4, false, true, false},
                                        {13, false, true, false},
                                        {14, true, false, false},
                                        {max_frame, true, false, false},
                                        {max_frame + 1, false, false, true},
                                        {largest, false, false, true}}) {
      CAPTURE(expected.length);
      bytes stream;
      append_wire(stream, pattern(60, 1));
      append_wire(stream, pattern(expected.length, 2));
      append_wire(stream, pattern(60, 3));
      const auto got = decode(stream);
      CHECK(got.frames.size() == (expected.frame ? 3 : 2));
      CHECK(got.frames.front() == pattern(60, 1));
      CHECK(got.frames.back() == pattern(60, 3)); // the framing is intact
      CHECK(got.runts == (expected.runt ? 1 : 0));
      CHECK(got.oversize == (expected.oversize ? 1 : 0));
      CHECK_FALSE(got.framing_lost);
    }
  }

  TEST_CASE("a length field of up to 4 GiB loses the framing, no more (gvisor-tap-vsock#670)") {
    for (const std::uint32_t length : {largest + 1, 0x7fff'ffffU, 0x8000'0000U, 0xffff'ffffU}) {
      CAPTURE(length);
      bytes stream;
      append_wire(stream, pattern(60, 1));
      append_wire(stream, pattern(100, 2));
      append_length(stream, length);
      append(stream, pattern(5000));
      const auto got = decode(stream);
      CHECK(got.framing_lost);
      CHECK(got.bad_length == length);
      CHECK(got.frames == frame_list{pattern(60, 1), pattern(100, 2)}); // what came before counts
      CHECK(got.undecoded() == 4 + 5000);
    }
  }

  TEST_CASE("a runt is counted and left out, wherever it is cut (libkrun#577)") {
    bytes stream;
    append_wire(stream, pattern(13, 1));
    append_length(stream, 0);
    append_wire(stream, pattern(60, 2));
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      CAPTURE(cut);
      stream_receiver receiver{max_frame};
      receiver.feed(std::span{stream}.first(cut));
      receiver.feed(std::span{stream}.subspan(cut));
      CHECK(receiver.runts == 2);
      CHECK(receiver.frames == frame_list{pattern(60, 2)});
    }
  }

  TEST_CASE("a frame larger than the network takes is skipped without storing it "
            "(firecracker#3905)") {
    const auto pool = pool_of(1);
    const slab_ref memory = pool->acquire();
    frame_decoder decoder{max_frame};
    burst found{memory};
    write_prefix(memory->data(), 9000);
    auto result = decoder.scan(memory->data(), 0, 1000, found);
    CHECK(result.consumed == 1000); // all of it: nothing has to be kept
    CHECK(decoder.skipping());
    for (int i = 0; i < 8; ++i) {
      CHECK(result.skipped.oversize == 0);
      result = decoder.scan(memory->data(), 0, 1000, found);
      CHECK(result.consumed == 1000);
    }
    const bytes next = wire(pattern(60));
    std::copy(next.begin(), next.end(), memory->data() + 4);
    result = decoder.scan(memory->data(), 0, 4 + 64, found);
    CHECK(result.consumed == 4 + 64);
    CHECK(result.skipped.oversize == 1); // once, when all of it has come
    CHECK(result.skipped.bytes == 9000);
    CHECK_FALSE(decoder.skipping());
    CHECK(frames_of(found) == frame_list{pattern(60)});
  }

  TEST_CASE("a skipped frame that ends with the bytes at hand leaves nothing to skip") {
    bytes stream;
    append_wire(stream, pattern(max_frame + 1));
    const auto got = decode(stream);
    CHECK(got.oversize == 1);
    CHECK_FALSE(got.decoder.skipping());
    CHECK(got.undecoded() == 0);
  }

  TEST_CASE("frames over 1504 bytes pass up to the configured jumbo size (vde-2#22)") {
    for (const std::uint32_t mtu : {9000U, 65520U}) {
      CAPTURE(mtu);
      const auto limit = static_cast<std::uint32_t>(max_frame_for_mtu(mtu));
      stream_receiver receiver{limit};
      bytes stream;
      append_wire(stream, pattern(limit, 1));
      append_wire(stream, pattern(1505, 2));
      append_wire(stream, pattern(limit + 1, 3));
      append_wire(stream, pattern(limit, 4));
      receiver.feed(stream);
      CHECK(receiver.frames == frame_list{pattern(limit, 1), pattern(1505, 2), pattern(limit, 4)});
      CHECK(receiver.oversize == 1);
    }
  }

  TEST_CASE("a tagged frame passes unchanged, at full size too (vde-2#49)") {
    bytes tagged = pattern(max_frame_for_mtu(1500));
    tagged[12] = std::byte{0x81};
    tagged[13] = std::byte{0x00};
    const auto got = decode(wire(tagged));
    CHECK(got.frames == frame_list{tagged});
  }

  TEST_CASE("any stream, cut anywhere, is decoded as a slow decoder does") {
    constexpr unsigned seed = 20240611;
    CAPTURE(seed);
    std::mt19937 random{seed};
    const auto below = [&](std::uint32_t limit) {
      return std::uniform_int_distribution<std::uint32_t>{0, limit - 1}(random);
    };
    for (int round = 0; round < 400; ++round) {
      CAPTURE(round);
      bytes stream;
      const bool broken = below(8) == 0;
      for (std::uint32_t i = below(40); i > 0; --i) {
        std::uint32_t size = 60;
        switch (below(8)) {
        case 0:
          size = below(14);
          break;
        case 1:
          size = 14 + below(100);
          break;
        case 2:
          size = max_frame - 2 + below(5);
          break;
        case 3:
          size = below(20) == 0 ? largest - below(3) : 1514;
          break;
        case 4:
          size = 1514;
          break;
        default:
          break;
        }
        append_wire(stream, pattern(size, below(256)));
      }
      if (broken)
        append_length(stream, largest + 1 + below(1U << 30));
      append(stream, pattern(below(40))); // an end in the middle of something
      slow_decoder expected;
      for (const std::byte byte : stream)
        expected.feed(byte);
      stream_receiver got{max_frame};
      const std::uint32_t cuts = 1 + below(3000);
      for (std::span rest{stream}; !rest.empty();) {
        const std::size_t part = std::min<std::size_t>(rest.size(), 1 + below(cuts));
        got.feed(rest.first(part));
        rest = rest.subspan(part);
      }
      REQUIRE(got.frames == expected.frames);
      REQUIRE(got.framing_lost == expected.framing_lost);
      REQUIRE(got.bad_length == expected.bad_length);
      REQUIRE(got.runts == expected.runts);
      REQUIRE(got.oversize == expected.oversize);
    }
  }

} // TEST_SUITE
