#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "transport/frame/mac_address.hpp"

namespace vmswitch {

/// Tells an address that goes on moving between ports, as in a loop, from one that has moved once.
/// Remembers the last few that moved: when more than that flap at once, some go unnoticed. Pure.
class flap_watch {
public:
  using clock = std::chrono::steady_clock;
  static constexpr std::uint32_t enough = 4; ///< moves in an interval
  static constexpr clock::duration interval = std::chrono::seconds{10};

  /// Notes a move. True for the one that makes it flapping; then not again in this interval.
  bool moved(mac_address address, clock::time_point now) {
    entry* oldest = &entries_[0];
    for (entry& each : entries_) {
      if (each.moves > 0 && each.address == address) {
        if (now - each.since >= interval)
          each = {address, now, 0};
        return ++each.moves == enough;
      }
      if (each.since < oldest->since)
        oldest = &each;
    }
    *oldest = {address, now, 1};
    return false;
  }

private:
  struct entry {
    mac_address address;
    clock::time_point since{};
    std::uint32_t moves = 0; // 0: free
  };
  std::array<entry, 16> entries_{};
};

} // namespace vmswitch
