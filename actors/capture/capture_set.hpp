#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "actors/capture/capture_tap.hpp"
#include "actors/port_id.hpp"
#include "actors/switch/forwarding.hpp"

namespace vmswitch {

/// The captures that run on one switch. While there are none, empty() is all that traffic pays.
/// Pure; one owner.
class capture_set {
public:
  using clock = capture_tap::clock;
  static constexpr std::size_t most = 8;

  bool empty() const noexcept { return taps_.empty(); }

  /// Begins it, or refuses it with a reason that its reader finds in the channel.
  void start(std::shared_ptr<capture_tap> tap, std::span<const capture_tap::port> ports,
             clock::time_point now);
  /// Ends the one with this id; nothing if there is none.
  void stop(std::uint64_t id, clock::time_point now);
  void stop_all(std::string_view why, clock::time_point now);

  void port_attached(capture_tap::port added, clock::time_point now);
  void port_detached(std::uint32_t slot, clock::time_point now);

  /// Records what `table` has made of `in`, before the outcome's bursts are moved away.
  /// @pre `from` is attached
  void record(port_id from, const burst& in, const forwarding::outcome& outcome,
              const forwarding& table, clock::time_point now);

  std::span<const std::shared_ptr<capture_tap>> running() const noexcept { return taps_; }

private:
  void forget_ended();

  std::vector<std::shared_ptr<capture_tap>> taps_;
};

} // namespace vmswitch
