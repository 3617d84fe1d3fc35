#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/support/frames.hpp"
#include "transport/frame/burst.hpp"
#include "transport/frame/burst_builder.hpp"

namespace vmswitch::test {

/// Makes bursts of bare frames, from a pool of its own.
class burst_maker {
public:
  explicit burst_maker(std::size_t budget = 64);
  /// All frames in one burst, neighbours in one slab. @pre they fit into a slab
  burst operator()(std::span<const frame> frames);
  burst operator()(const frame& only) { return (*this)(std::span{&only, 1}); }
  /// Slabs that anyone still refers to.
  std::size_t slabs_out() const { return pool_->outstanding(); }
  /// Lets go of the maker's own slab.
  void release() { builder_.release(); }

private:
  std::shared_ptr<slab_pool> pool_;
  burst_builder builder_;
};

/// The frames of a burst, copied out.
std::vector<frame> frames_of(const burst& frames);

/// A small frame that can be told from others: `tag` is its first payload byte.
frame tagged_frame(mac_address destination, mac_address source, std::uint8_t tag,
                   std::size_t size = 60);
/// The tag of a frame made by tagged_frame.
std::uint8_t tag_of(std::span<const std::byte> bare);

/// 02:00:00:00:00:nn, a unicast address.
constexpr mac_address vm_mac(std::uint32_t number) {
  return mac_address::from_integer(0x0200'0000'0000ULL + number);
}

} // namespace vmswitch::test
