#include "app/ctl/capture_tally.hpp"

#include <algorithm>
#include <cstring>

namespace vmswitch {

namespace {

// See actors/capture/pcapng.cpp, which writes them.
constexpr std::uint32_t interface_statistics_block = 5;
constexpr std::uint32_t enhanced_packet_block = 6;
constexpr std::uint16_t opt_end = 0;
constexpr std::uint16_t opt_comment = 1;
constexpr std::uint16_t isb_ifdrop = 5;
constexpr std::size_t statistics_head = 12; // interface, time

template <class Integer>
Integer number_at(std::string_view bytes, std::size_t at) {
  Integer value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

} // namespace

void capture_tally::take(std::string_view piece) {
  while (!piece.empty() && !is_broken_) {
    if (left_ == 0) {
      const auto more = piece.substr(0, header_size - header_.size());
      header_ += more;
      piece.remove_prefix(more.size());
      if (header_.size() == header_size)
        begin_block();
      continue;
    }
    const auto more = piece.substr(0, std::min<std::uint64_t>(left_, piece.size()));
    if (is_kept_)
      kept_ += more;
    piece.remove_prefix(more.size());
    left_ -= more.size();
    if (left_ > 0)
      continue;
    if (type_ == enhanced_packet_block)
      ++frames_;
    else if (is_kept_)
      read_statistics();
    kept_.clear();
  }
}

void capture_tally::begin_block() {
  type_ = number_at<std::uint32_t>(header_, 0);
  const auto size = number_at<std::uint32_t>(header_, 4);
  header_.clear();
  is_broken_ = size < header_size + 4 || size % 4 != 0;
  left_ = size - header_size;
  is_kept_ = type_ == interface_statistics_block && size <= most_kept;
}

void capture_tally::read_statistics() {
  ended_ = true;
  for (auto rest = std::string_view{kept_}.substr(std::min(statistics_head, kept_.size()));
       rest.size() >= 4;) {
    const auto code = number_at<std::uint16_t>(rest, 0);
    const std::size_t size = number_at<std::uint16_t>(rest, 2);
    const auto padded = 4 + (size + 3) / 4 * 4;
    if (code == opt_end || padded > rest.size())
      return;
    if (code == opt_comment)
      reason_ = rest.substr(4, size);
    else if (code == isb_ifdrop && size == 8)
      lost_ += number_at<std::uint64_t>(rest, 4);
    rest.remove_prefix(padded);
  }
}

} // namespace vmswitch
