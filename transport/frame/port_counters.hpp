#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vmswitch {

/// Why a frame was not delivered. Every frame that disappears is counted under one of these.
enum class drop_reason : std::uint8_t {
  runt,              ///< shorter than an Ethernet header
  oversize,          ///< longer than the network's max_frame
  group_source,      ///< a multicast or broadcast source address
  same_port,         ///< its destination is behind the port that it came from
  port_isolated,     ///< from one isolated port to another
  port_down,         ///< from, or to, a port that somebody has set down
  unknown_port,      ///< from a port that the switch does not (or no longer) know
  egress_expired,    ///< waited longer than the egress deadline
  egress_stalled,    ///< the receiver has made no progress since its deadline passed
  egress_full,       ///< the receiver's queue has reached its limit of bursts
  egress_refused,    ///< the receiver can never take this frame (larger than its buffer)
  ingress_exhausted, ///< the sender's slab budget is out and its link cannot be made to wait
  no_return_address, ///< a datagram from a socket without a path, which nobody could answer
  port_closed,       ///< still queued when its port closed
  host_refused,      ///< the host interface is down or did not take it
};
inline constexpr std::size_t drop_reason_count =
    static_cast<std::size_t>(drop_reason::host_refused) + 1;

/// A short name such as "egress_expired", stable: it appears in logs and metrics.
std::string_view to_string(drop_reason reason) noexcept;

/// Plain integers, written by the one actor that owns them.
class drop_counters {
public:
  void add(drop_reason reason, std::uint64_t frames) noexcept {
    values_[static_cast<std::size_t>(reason)] += frames;
  }
  std::uint64_t operator[](drop_reason reason) const noexcept {
    return values_[static_cast<std::size_t>(reason)];
  }
  std::uint64_t total() const noexcept;
  drop_counters& operator+=(const drop_counters& other) noexcept;
  /// What has been added since `earlier`, an older state of the same counters.
  friend drop_counters operator-(drop_counters now, const drop_counters& earlier) noexcept {
    for (std::size_t i = 0; i < drop_reason_count; ++i)
      now.values_[i] -= earlier.values_[i];
    return now;
  }

private:
  std::array<std::uint64_t, drop_reason_count> values_{};
};

/// What one port has seen. "In" is from the VM, "out" towards it; bytes are those of frames.
struct port_counters {
  std::uint64_t frames_in = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t bytes_out = 0;
  drop_counters drops;

  port_counters& operator+=(const port_counters& other) noexcept;
};

} // namespace vmswitch
