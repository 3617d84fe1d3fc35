#include "tests/support/numbered_frames.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

namespace vmswitch::test {

namespace {

constexpr std::uint32_t magic = 0x766d7377; // "vmsw"
constexpr std::size_t period = 251;         // a prime: no buffer size is a multiple of it
constexpr std::size_t largest_pattern = 65'550;

// One table and a shifting start, so that writing and checking a pattern are memcpy and memcmp.
const std::byte* pattern(frame_number number) {
  static const auto table = [] {
    std::array<std::byte, largest_pattern + period> filled{};
    for (std::size_t i = 0; i < filled.size(); ++i)
      filled[i] = static_cast<std::byte>(i % period);
    return filled;
  }();
  return table.data() + (number.sequence + number.sender * 7) % period;
}

void store(std::byte* at, std::uint64_t value, int octets) {
  for (int i = 0; i < octets; ++i)
    at[i] = static_cast<std::byte>(value >> 8 * (octets - 1 - i));
}

} // namespace

frame numbered_frame(mac_address destination, mac_address source, frame_number number,
                     std::size_t size) {
  auto bare = ethernet(destination, source, type_numbered, {});
  bare.resize(size);
  write_number(bare, number);
  return bare;
}

void write_number(std::span<std::byte> bare, frame_number number) {
  assert(bare.size() >= smallest_numbered_frame && bare.size() <= largest_pattern);
  store(bare.data() + 14, magic, 4);
  store(bare.data() + 18, number.sender, 4);
  store(bare.data() + 22, number.sequence, 8);
  store(bare.data() + 30, bare.size(), 4);
  const auto rest = bare.subspan(smallest_numbered_frame);
  if (!rest.empty())
    std::memcpy(rest.data(), pattern(number), rest.size());
}

std::optional<frame_number> read_number(std::span<const std::byte> bare) {
  byte_reader in{bare};
  in.skip(12);
  const bool ours = in.u16() == type_numbered && in.u32() == magic;
  frame_number number;
  number.sender = in.u32();
  number.sequence = std::uint64_t{in.u32()} << 32;
  number.sequence |= in.u32();
  if (!ours || !in.ok())
    return std::nullopt;
  return number;
}

bool is_intact(std::span<const std::byte> bare, frame_number number) {
  if (bare.size() < smallest_numbered_frame || bare.size() > largest_pattern ||
      byte_reader{bare.subspan(30, 4)}.u32() != bare.size())
    return false;
  const auto rest = bare.subspan(smallest_numbered_frame);
  return rest.empty() || std::memcmp(rest.data(), pattern(number), rest.size()) == 0;
}

void sequence_checker::on_frame(std::span<const std::byte> bare) {
  const auto number = read_number(bare);
  if (!number || number->sender != sender_ || number->sequence > largest_sequence) {
    ++foreign_;
    return;
  }
  const auto sequence = number->sequence;
  if (!is_intact(bare, *number)) {
    ++damaged_;
  } else if (seen(sequence)) {
    ++duplicated_;
  } else {
    ++received_;
    if (sequence < seen_.size())
      ++reordered_;
    else
      seen_.resize(sequence + 1);
    seen_[sequence] = true;
  }
}

std::uint64_t sequence_checker::lost(std::uint64_t sent) const noexcept {
  const auto known = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(sent, seen_.size()));
  return sent - static_cast<std::uint64_t>(std::count(seen_.begin(), seen_.begin() + known, true));
}

bool sequence_checker::perfect(std::uint64_t sent) const noexcept {
  return received_ == sent && lost(sent) == 0 && reordered_ == 0 && duplicated_ == 0 &&
         damaged_ == 0 && foreign_ == 0;
}

std::string sequence_checker::summary(std::uint64_t sent) const {
  std::uint64_t first = 0;
  while (first < sent && seen(first))
    ++first;
  return fmt::format("sent {}, received {}, lost {}{}, reordered {}, duplicated {}, damaged {}, "
                     "foreign {}",
                     sent, received_, lost(sent),
                     first < sent ? fmt::format(" (first {})", first) : "", reordered_, duplicated_,
                     damaged_, foreign_);
}

} // namespace vmswitch::test
