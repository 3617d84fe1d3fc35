#include "actors/capture/byte_ring.hpp"

#include <bit>
#include <cassert>

namespace vmswitch {

byte_ring::byte_ring(std::size_t capacity)
    : capacity_{capacity}, memory_{std::make_unique_for_overwrite<std::byte[]>(capacity)} {
  assert(std::has_single_bit(capacity));
}

std::size_t byte_ring::room() noexcept {
  known_read_ = read_.load(std::memory_order_acquire);
  return known_room();
}

std::byte* byte_ring::reserve(std::size_t size) noexcept {
  const auto end = lap_end(written_);
  // At the very beginning of a lap `end` is a whole lap away.
  const bool skips = end - written_ < size;
  const auto needed = skips ? end - written_ + size : size;
  if (known_room() < needed && room() < needed)
    return nullptr;
  if (skips) {
    skipped_at_ = written_;
    written_ = end;
  }
  return place(written_);
}

bool byte_ring::publish() noexcept {
  // Sequentially consistent, as in sleep(): either the reader sees the bytes or we see it sleep.
  published_.store(written_);
  return sleeps_.load() && sleeps_.exchange(false);
}

std::span<const std::byte> byte_ring::readable() noexcept {
  const auto published = published_.load(std::memory_order_acquire);
  auto at = read_.load(std::memory_order_relaxed);
  auto end = published;
  if (const auto next_lap = lap_end(at); published >= next_lap) {
    const bool skips = skipped_at_ >= at && skipped_at_ < next_lap; // else of an earlier lap
    end = skips ? skipped_at_ : next_lap;
    if (end == at) {
      at = next_lap;
      end = published;
      read_.store(at, std::memory_order_release);
    }
  }
  return {place(at), static_cast<std::size_t>(end - at)};
}

void byte_ring::consume(std::size_t size) noexcept {
  read_.store(read_.load(std::memory_order_relaxed) + size, std::memory_order_release);
}

bool byte_ring::sleep() noexcept {
  sleeps_.store(true);
  if (published_.load() == read_.load(std::memory_order_relaxed))
    return true;
  // Unless the writer has just taken the flag: then it wakes us, for bytes that we have seen.
  sleeps_.store(false);
  return false;
}

} // namespace vmswitch
