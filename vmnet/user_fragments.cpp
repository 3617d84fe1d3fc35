#include "vmnet/user_fragments.hpp"

#include <algorithm>

#include "transport/frame/ethernet.hpp"
#include "vmnet/ip_packet.hpp"

namespace vmswitch {

namespace {

using bytes = std::span<const std::byte>;
using std::chrono::milliseconds;

constexpr std::uint16_t more_fragments = 0x2000, offset_bits = 0x1fff;

std::uint8_t u8(bytes from, std::size_t at) {
  return std::to_integer<std::uint8_t>(from[at]);
}
std::uint16_t u16(bytes from, std::size_t at) {
  return static_cast<std::uint16_t>(u8(from, at) << 8 | u8(from, at + 1));
}
std::uint64_t u32(bytes from, std::size_t at) {
  return std::uint64_t{u16(from, at)} << 16 | u16(from, at + 2);
}
void put16(std::span<std::byte> to, std::size_t at, std::size_t value) {
  to[at] = static_cast<std::byte>(value >> 8);
  to[at + 1] = static_cast<std::byte>(value);
}

} // namespace

user_fragments::outcome user_fragments::add(bytes frame, milliseconds now) {
  expire(now);
  const auto header = frame.subspan(ethernet_header_size, 20);
  const std::size_t length = u16(header, 2) - header.size();
  const auto field = u16(header, 6);
  const std::size_t begin = (field & offset_bits) * std::size_t{8};
  const part one{begin, begin + length, (field & more_fragments) == 0};
  if (length == 0 || one.end > largest || (!one.is_last && length % 8 != 0) ||
      ipv4_header_checksum(header) != 0) {
    dropped_.add(frame.size());
    return {};
  }
  const auto is = key_of(frame);
  auto found = std::ranges::find(packets_, is, &packet::is);
  if (found == packets_.end())
    found = begin_packet(is, now);
  found->fragments.add(frame.size());
  if (!found->take(one, frame)) {
    drop(found);
    return {};
  }
  if (found->length == 0 || found->received < found->length)
    return {};
  return finish(found);
}

user_fragments::key user_fragments::key_of(bytes frame) {
  const auto header = frame.subspan(ethernet_header_size);
  return {mac_address::read(frame.data() + 6).integer(), u32(header, 12) << 32 | u32(header, 16),
          u16(header, 4), u8(header, 9)};
}

user_fragments::packets::iterator user_fragments::begin_packet(const key& is, milliseconds now) {
  const auto is_own = [&](const packet& other) { return other.is.sender == is.sender; };
  if (std::ranges::count_if(packets_, is_own) >= static_cast<std::ptrdiff_t>(most_of_one))
    drop(std::ranges::find_if(packets_, is_own));
  else if (packets_.size() >= most)
    drop(packets_.begin());
  packet& made = packets_.emplace_back();
  made.is = is;
  made.due = now + lifetime;
  return std::prev(packets_.end());
}

bool user_fragments::packet::take(const part& one, bytes from) {
  if (length != 0 && (one.is_last || one.end > length))
    return false;
  if (one.is_last && one.end < furthest)
    return false;
  for (std::size_t block = one.begin / 8; block < (one.end + 7) / 8; ++block) {
    if (come[block])
      return false;
    come[block] = true;
  }
  if (one.begin == 0)
    std::ranges::copy(from.first(headers), frame.get());
  std::ranges::copy(from.subspan(headers, one.end - one.begin), frame.get() + headers + one.begin);
  received += one.end - one.begin;
  furthest = std::max(furthest, one.end);
  if (one.is_last)
    length = one.end;
  return true;
}

user_fragments::outcome user_fragments::finish(packets::iterator which) {
  const std::span frame{which->frame.get(), headers + which->length};
  const auto header = frame.subspan(ethernet_header_size, 20);
  put16(header, 2, header.size() + which->length);
  put16(header, 6, 0);
  put16(header, 10, 0);
  put16(header, 10, ipv4_header_checksum(header));
  const outcome made{frame, which->fragments};
  whole_ = std::move(which->frame);
  packets_.erase(which);
  return made;
}

void user_fragments::drop(packets::iterator which) {
  dropped_ += which->fragments;
  packets_.erase(which);
}

void user_fragments::expire(milliseconds now) {
  while (!packets_.empty() && packets_.front().due <= now)
    drop(packets_.begin());
}

} // namespace vmswitch
