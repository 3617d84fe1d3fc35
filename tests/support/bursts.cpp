#include "tests/support/bursts.hpp"

#include <algorithm>
#include <stdexcept>

namespace vmswitch::test {

burst_maker::burst_maker(std::size_t budget)
    : pool_{slab_pool::create(std::make_shared<slab_stock>(4), budget, {})}, builder_{pool_} {}

burst burst_maker::operator()(std::span<const frame> frames) {
  std::size_t bytes = 0;
  for (const frame& each : frames)
    bytes += prefix_size + each.size();
  if (bytes > slab::capacity)
    throw std::logic_error{"a test burst must fit into a slab"};
  for (int attempt = 0; attempt < 2; ++attempt) {
    bool whole = true;
    for (const frame& each : frames)
      whole = whole && builder_.append(each) == burst_builder::outcome::added;
    burst made = builder_.take();
    if (whole) {
      const auto same = [&](const frame& each) {
        return std::equal(each.begin(), each.begin() + 12, frames[0].begin());
      };
      if (std::all_of(frames.begin(), frames.end(), same))
        made.mark_one_flow(); // as the codec does
      return made;
    }
    builder_.release(); // it did not fit behind earlier ones: once more, in a slab of its own
  }
  throw std::logic_error{"the slab budget of a test is out"};
}

std::vector<frame> frames_of(const burst& frames) {
  std::vector<frame> copied;
  if (!frames.empty())
    frames.for_each_frame(
        [&](std::span<const std::byte> each) { copied.emplace_back(each.begin(), each.end()); });
  return copied;
}

frame tagged_frame(mac_address destination, mac_address source, std::uint8_t tag,
                   std::size_t size) {
  std::vector<std::byte> payload(size - ethernet_header_size);
  if (!payload.empty())
    payload[0] = std::byte{tag};
  return ethernet(destination, source, 0x88b5, payload);
}

std::uint8_t tag_of(std::span<const std::byte> bare) {
  return std::to_integer<std::uint8_t>(bare[ethernet_header_size]);
}

} // namespace vmswitch::test
