#include "actors/capture/capture_channel.hpp"

#include <utility>

namespace vmswitch {

void capture_channel::end(std::vector<std::byte> tail, std::string refusal) {
  if (ended_.load(std::memory_order_relaxed))
    return;
  tail_ = std::move(tail);
  refusal_ = std::move(refusal);
  ended_.store(true);
  publish();
}

std::span<const std::byte> capture_channel::readable() noexcept {
  // First the flag: what was written before the end is then in sight, too.
  const bool ended = ended_.load(std::memory_order_acquire);
  if (const auto bytes = ring_.readable(); !bytes.empty() || !ended)
    return bytes;
  return std::span{tail_}.subspan(tail_read_);
}

void capture_channel::consume(std::size_t size) noexcept {
  if (ring_.readable().empty())
    tail_read_ += size;
  else
    ring_.consume(size);
}

bool capture_channel::sleep() noexcept {
  return ring_.sleep() && !ended_.load();
}

} // namespace vmswitch
