#include "tests/support/numbered_batch.hpp"

namespace vmswitch::test {

numbered_batch::numbered_batch(mac_address destination, mac_address source, std::uint32_t sender,
                               std::size_t size, std::size_t frames)
    : sender_{sender}, size_{size} {
  const auto bare = numbered_frame(destination, source, {sender, 0}, size);
  for (std::size_t i = 0; i < frames; ++i)
    append_wire_form(wire_, bare);
}

std::span<const std::byte> numbered_batch::next() {
  for (std::size_t at = prefix_size; at < wire_.size(); at += size_ + prefix_size)
    write_number(std::span{wire_}.subspan(at, size_), {sender_, sequence_++});
  return wire_;
}

} // namespace vmswitch::test
