#pragma once

#include <cstdint>

namespace vmswitch {

/// Names one attachment to a switch. Slots are used again, generations are not: a message from a
/// port that has gone is never taken for its successor's.
struct port_id {
  std::uint32_t slot = 0xffff'ffff;
  std::uint32_t generation = 0;
  friend bool operator==(port_id, port_id) = default;
};

} // namespace vmswitch
