#pragma once

#include <cstdint>

namespace vmswitch {

/// What came from a VM and is no frame of this network.
struct skipped_frames {
  std::uint32_t runts = 0;    ///< shorter than an Ethernet header
  std::uint32_t oversize = 0; ///< longer than the network's largest frame
  std::uint64_t bytes = 0;    ///< of both, without prefixes

  std::uint32_t frames() const noexcept { return runts + oversize; }
};

} // namespace vmswitch
