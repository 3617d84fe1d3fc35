// Any bytes as a frame from a VM: ignored, or answered with an advertisement of the one size.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "vmnet/tap/router_advertiser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmswitch;
  static const std::size_t answer_size = 14 + 40 + 16 + 8 + 8 + 32;
  router_advertiser advertiser{{}, 1};
  const std::span bare{reinterpret_cast<const std::byte*>(data), size};
  const auto answer = advertiser.on_solicitation(bare, {});
  if (answer && (answer->size() != answer_size || !router_advertiser::concerns(bare)))
    std::abort();
  return 0;
}
