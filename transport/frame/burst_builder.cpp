#include "transport/frame/burst_builder.hpp"

#include <cassert>
#include <cstring>

namespace vmswitch {

burst_builder::outcome burst_builder::append(std::span<const std::byte> frame) {
  outcome why{};
  const auto space = extend(frame.size(), why);
  if (!space.empty())
    std::memcpy(space.data(), frame.data(), frame.size());
  return why;
}

std::span<std::byte> burst_builder::extend(std::size_t size, outcome& why) {
  const auto space = reserve(size, why);
  if (!space.empty())
    commit(size);
  return space;
}

std::span<std::byte> burst_builder::reserve(std::size_t most, outcome& why) {
  assert(most >= ethernet_header_size && most + prefix_size <= slab::capacity);
  if (memory_ && used_ + prefix_size + most > slab::capacity) {
    if (!pending_.empty()) {
      why = outcome::full;
      return {};
    }
    memory_.reset();
  }
  if (!memory_) {
    memory_ = pool_->acquire();
    used_ = 0;
    if (!memory_) {
      why = outcome::exhausted;
      return {};
    }
  } else if (pending_.empty() && memory_->unique()) {
    used_ = 0; // everything handed out has come back: stay in warm memory
  }
  why = outcome::added;
  return {memory_->data() + used_ + prefix_size, most};
}

void burst_builder::commit(std::size_t size) {
  assert(size >= ethernet_header_size && used_ + prefix_size + size <= slab::capacity);
  if (pending_.empty())
    pending_ = burst{memory_};
  const auto length = static_cast<std::uint32_t>(size);
  write_prefix(memory_->data() + used_, length);
  const auto end = used_ + static_cast<std::uint32_t>(prefix_size) + length;
  pending_.append(used_, end, 1);
  used_ = end;
}

burst burst_builder::take() {
  return std::exchange(pending_, burst{});
}

} // namespace vmswitch
