// Any bytes, cut anywhere: what the decoder finds does not depend on the cuts, is within bounds,
// and is accounted for byte by byte.
//
// Input: max_frame (2 bytes), the sizes of the pieces (2 bytes), then the stream.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "transport/codec.hpp"

using namespace vmswitch;

namespace {

struct outcome {
  std::vector<std::byte> frames; // in wire form
  std::uint32_t runts = 0;
  std::uint32_t oversize = 0;
  std::uint64_t skipped_bytes = 0;
  bool framing_lost = false;
  std::uint32_t bad_length = 0;
  std::uint32_t consumed = 0;
  friend bool operator==(const outcome&, const outcome&) = default;
};

void require(bool condition) {
  if (!condition)
    std::abort();
}

outcome decode(const slab_ref& memory, std::uint32_t end, std::uint32_t piece,
               std::uint32_t max_frame) {
  outcome got;
  frame_decoder decoder{max_frame};
  std::uint32_t begin = 0;
  for (std::uint32_t arrived = 0; arrived < end && !got.framing_lost;) {
    arrived = std::min(end, arrived + piece);
    burst found{memory};
    const auto result = decoder.scan(memory->data(), begin, arrived, found);
    require(result.consumed <= arrived - begin);
    require(found.wire_bytes() <= result.consumed);
    std::uint32_t frames = 0;
    found.for_each_frame([&](std::span<const std::byte> frame) {
      require(frame.size() >= ethernet_header_size && frame.size() <= max_frame);
      require(frame.data() >= memory->data() + begin + prefix_size);
      require(frame.data() + frame.size() <= memory->data() + begin + result.consumed);
      const std::byte* whole = frame.data() - prefix_size;
      got.frames.insert(got.frames.end(), whole, frame.data() + frame.size());
      ++frames;
    });
    require(frames == found.frames());
    begin += result.consumed;
    got.runts += result.skipped.runts;
    got.oversize += result.skipped.oversize;
    got.skipped_bytes += result.skipped.bytes;
    got.framing_lost = result.framing_lost;
    got.bad_length = result.bad_length;
    require(result.framing_lost == (result.bad_length > frame_decoder::largest_length));
  }
  got.consumed = begin;
  return got;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4)
    return 0;
  static const auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 1, {});
  std::uint16_t parameters[2];
  std::memcpy(parameters, data, sizeof parameters);
  const std::uint32_t max_frame =
      static_cast<std::uint32_t>(ethernet_header_size) + parameters[0] % 1600;
  const std::uint32_t piece = 1 + parameters[1] % 4096;
  const slab_ref memory = pool->acquire();
  const auto end = static_cast<std::uint32_t>(std::min(size - 4, slab::capacity));
  std::memcpy(memory->data(), data + 4, end);
  const outcome whole = decode(memory, end, end, max_frame);
  require(decode(memory, end, piece, max_frame) == whole);
  require(decode(memory, end, 1, max_frame) == whole);
  return 0;
}
