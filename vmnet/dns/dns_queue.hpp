#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "transport/frame/mac_address.hpp"

namespace vmswitch {

/// Whose question is asked next, so that one VM with many does not hold up the others.
///
/// Theory of operation. Questions have numbers. At most `most_active` are asked at one time, and at
/// most `most_active_of_one` of those for one VM; the others wait, each VM's in the order in which
/// they came, and VMs take turns.
class dns_queue {
public:
  static constexpr std::size_t most_active = 128, most_active_of_one = 64;
  static constexpr std::size_t most_waiting = 8192, most_waiting_of_one = 2048;

  /// False if too many wait.
  bool add(mac_address client, std::uint32_t question);
  /// The question to ask now, which is active from now on; nothing if none may be.
  std::optional<std::uint32_t> next();
  /// A question of this client is not active any more.
  void finished(mac_address client);

  std::size_t active() const noexcept { return active_; }
  std::size_t waiting() const noexcept { return waiting_; }

private:
  struct client {
    std::deque<std::uint32_t> waiting;
    std::size_t active = 0;
  };
  std::unordered_map<std::uint64_t, client> clients_;
  std::deque<std::uint64_t> turns_; // of those who wait
  std::size_t active_ = 0;
  std::size_t waiting_ = 0;
};

} // namespace vmswitch
