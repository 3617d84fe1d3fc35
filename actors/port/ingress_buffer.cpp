#include "actors/port/ingress_buffer.hpp"

#include <cassert>
#include <cstring>

namespace vmswitch {

std::span<std::byte> ingress_buffer::space() {
  if (!memory_) {
    memory_ = pool_->acquire();
    begin_ = end_ = 0;
    if (!memory_)
      return {};
  } else if (begin_ > 0 && memory_->unique()) {
    std::memmove(memory_->data(), memory_->data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  } else if (slab::capacity - end_ < enough_) {
    auto next = pool_->acquire();
    if (!next)
      return {};
    std::memcpy(next->data(), memory_->data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    memory_ = std::move(next);
  }
  return {memory_->data() + end_, slab::capacity - end_};
}

ingress_buffer::outcome ingress_buffer::received(std::size_t bytes) {
  assert(memory_ && bytes <= slab::capacity - end_);
  end_ += static_cast<std::uint32_t>(bytes);
  outcome result{burst{memory_}, {}};
  result.scan = decoder_.scan(memory_->data(), begin_, end_, result.frames);
  begin_ += result.scan.consumed;
  return result;
}

void ingress_buffer::idle() noexcept {
  if (memory_ && begin_ == end_ && memory_->unique())
    memory_.reset();
}

} // namespace vmswitch
