#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/codec.hpp"
#include "transport/frame/burst.hpp"

namespace vmswitch::test {

using bytes = std::vector<std::byte>;
using frame_list = std::vector<bytes>;

/// `size` bytes that differ from place to place and from seed to seed.
inline bytes pattern(std::size_t size, unsigned seed = 0) {
  bytes made(size);
  for (std::size_t i = 0; i < size; ++i)
    made[i] = static_cast<std::byte>(seed * 31 + i * 7 + (i >> 8));
  return made;
}

inline void append(bytes& to, const bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// A length and so many bytes behind it, whether that is a frame or not.
inline void append_wire(bytes& to, const bytes& frame) {
  to.resize(to.size() + prefix_size);
  write_prefix(to.data() + to.size() - prefix_size, static_cast<std::uint32_t>(frame.size()));
  append(to, frame);
}

inline bytes wire(const bytes& frame) {
  bytes made;
  append_wire(made, frame);
  return made;
}

inline void append_length(bytes& to, std::uint32_t length) {
  to.resize(to.size() + prefix_size);
  write_prefix(to.data() + to.size() - prefix_size, length);
}

inline std::shared_ptr<slab_pool> pool_of(std::size_t slabs) {
  return slab_pool::create(std::make_shared<slab_stock>(4), slabs, {});
}

inline frame_list frames_of(const burst& from) {
  frame_list frames;
  from.for_each_frame([&](auto frame) { frames.emplace_back(frame.begin(), frame.end()); });
  return frames;
}

/// Feeds a decoder the way a port does: bytes go behind what is not yet decoded, and a partial
/// frame moves to the front of a new slab when the old one is nearly full.
class stream_receiver {
public:
  explicit stream_receiver(std::uint32_t max_frame) : decoder{max_frame}, room_{max_frame + 4} {}

  void feed(std::span<const std::byte> more) {
    while (!more.empty() && !framing_lost) {
      if (slab::capacity - end_ < room_)
        renew();
      const std::size_t part = std::min(more.size(), slab::capacity - end_);
      std::copy_n(more.begin(), part, memory_->data() + end_);
      end_ += static_cast<std::uint32_t>(part);
      more = more.subspan(part);
      burst found{memory_};
      const auto result = decoder.scan(memory_->data(), begin_, end_, found);
      begin_ += result.consumed;
      runts += result.skipped.runts;
      oversize += result.skipped.oversize;
      framing_lost = result.framing_lost;
      bad_length = result.bad_length;
      for (auto& frame : frames_of(found))
        frames.push_back(std::move(frame));
    }
  }

  frame_decoder decoder;
  frame_list frames;
  std::uint32_t runts = 0;
  std::uint32_t oversize = 0;
  bool framing_lost = false;
  std::uint32_t bad_length = 0;
  std::uint32_t undecoded() const { return end_ - begin_; }

private:
  void renew() {
    slab_ref next = pool_->acquire();
    std::copy_n(memory_->data() + begin_, end_ - begin_, next->data());
    memory_ = next;
    end_ -= begin_;
    begin_ = 0;
  }

  std::shared_ptr<slab_pool> pool_ = pool_of(2);
  slab_ref memory_ = pool_->acquire();
  const std::size_t room_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
};

} // namespace vmswitch::test
