#pragma once

#include <algorithm>

#include "tests/support/frames.hpp"

namespace vmswitch::test {

inline constexpr std::size_t fragment_headers = 14 + 20;

/// The IPv4 packet with another word of flags and offset (in 8 bytes), and a fitting checksum.
inline frame with_fragmentation(frame packet, unsigned field, unsigned number = 7) {
  const auto put = [&](std::size_t at, unsigned value) {
    packet[14 + at] = static_cast<std::byte>(value >> 8);
    packet[15 + at] = static_cast<std::byte>(value & 0xff);
  };
  put(2, static_cast<unsigned>(packet.size() - 14));
  put(4, number);
  put(6, field);
  put(10, 0);
  put(10, internet_checksum(std::span{packet}.subspan(14, 20)));
  return packet;
}

/// Bytes `begin` to `end` of the data of a whole IPv4 packet, as the fragment that they would be.
inline frame fragment_of(const frame& whole, std::size_t begin, std::size_t end,
                         unsigned number = 7) {
  const auto data = static_cast<std::ptrdiff_t>(fragment_headers);
  frame made(whole.begin(), whole.begin() + data);
  made.insert(made.end(), whole.begin() + data + static_cast<std::ptrdiff_t>(begin),
              whole.begin() + data + static_cast<std::ptrdiff_t>(end));
  const unsigned more = end < whole.size() - fragment_headers ? 0x2000 : 0;
  return with_fragmentation(std::move(made), more | static_cast<unsigned>(begin / 8), number);
}

/// All of it in fragments with `size` bytes of data each. @pre a multiple of 8
inline std::vector<frame> in_fragments(const frame& whole, std::size_t size, unsigned number = 7) {
  const auto length = whole.size() - fragment_headers;
  std::vector<frame> all;
  for (std::size_t at = 0; at < length; at += size)
    all.push_back(fragment_of(whole, at, std::min(at + size, length), number));
  return all;
}

} // namespace vmswitch::test
