#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "transport/codec.hpp"
#include "transport/frame/burst.hpp"

namespace vmswitch {

/// Where a stream's bytes are read to, and whole frames come from.
///
/// Theory of operation. Bytes are read behind each other into the current slab; what the decoder
/// finds whole leaves as a burst that points into it, and reading goes on behind. When too little
/// room is left, a new slab is taken from the port's budget and the partial frame at the end, the
/// only bytes that are ever copied, is carried to its front. When all that was handed out has come
/// back meanwhile, the same slab is used again from its start: it is still in the cache.
/// Pure; one owner.
class ingress_buffer {
public:
  /// @pre max_frame + prefix_size <= slab::capacity / 2
  ingress_buffer(std::shared_ptr<slab_pool> pool, std::uint32_t max_frame)
      : pool_{std::move(pool)}, decoder_{max_frame}, enough_{std::max<std::uint32_t>(
                                                         max_frame + prefix_size, least_space)} {}

  /// Where to read next, at least one largest frame long. Empty while the slab budget is out: wait
  /// for the pool's on_return. Stays valid until received() or space().
  std::span<std::byte> space();

  struct outcome {
    burst frames;
    frame_decoder::scan_result scan;
  };
  /// Says that `bytes` were read to the front of space(); returns the frames that are now whole.
  outcome received(std::size_t bytes);

  /// Gives the slab back if nothing in it is needed: call when there is nothing to read.
  void idle() noexcept;

  /// Bytes of a partial frame that wait for the rest.
  std::size_t partial_bytes() const noexcept { return end_ - begin_; }
  std::size_t slabs_out() const noexcept { return pool_->outstanding(); }
  /// See slab_pool.
  void change_budget(std::size_t slabs) noexcept { pool_->change_budget(slabs); }

private:
  // Less room than this is not worth a system call.
  static constexpr std::uint32_t least_space = 16 * 1024;

  std::shared_ptr<slab_pool> pool_;
  frame_decoder decoder_;
  const std::uint32_t enough_;
  slab_ref memory_;
  std::uint32_t begin_ = 0; // bytes of a partial frame: [begin_, end_)
  std::uint32_t end_ = 0;
};

} // namespace vmswitch
