#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/ctl/capture_tally.hpp"

// Any bytes, in pieces of any size: the first byte of the input says where to cut.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data) + 1, size - 1};
  vmswitch::capture_tally whole;
  whole.take(bytes);
  vmswitch::capture_tally pieces;
  const std::size_t piece = 1 + data[0];
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    pieces.take(bytes.substr(at, piece));
  if (whole.frames() != pieces.frames() || whole.lost() != pieces.lost() ||
      whole.reason() != pieces.reason())
    __builtin_trap();
  return 0;
}
