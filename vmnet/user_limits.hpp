#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "transport/frame/mac_address.hpp"
#include "vmnet/user_filter.hpp"

namespace vmswitch {

/// How many sockets of each kind VMs may have in a user_host.
///
/// Theory of operation. libslirp keeps a socket for minutes after its VM has gone, so a VM must not
/// be able to take them all. Each may have as many as are still free: one alone half of all, a next
/// one then half of the rest, two that share a third each. So there is always room for one more VM,
/// and none has to be known in advance. What comes in through forwards counts as one more VM.
///
/// VMs are told apart by their MAC address. One that changes it gets ever smaller shares.
///
/// Pure: time is told.
class user_limits {
public:
  using socket_kind = user_filter::socket_kind;
  /// Sockets of a kind: those that exist, and how many of them are the VM's own.
  struct count {
    std::size_t all = 0;
    std::size_t own = 0;
  };
  static constexpr std::chrono::seconds quiet_time{10};

  /// `descriptors` is how many the process may have open; it keeps half of them for other things.
  explicit user_limits(std::size_t descriptors);

  bool allows(socket_kind kind, count open) const noexcept {
    return open.own + open.all < limits_[static_cast<std::size_t>(kind)];
  }
  /// What to warn of when a VM has been refused. Nothing within `quiet_time` of the last warning
  /// about this kind.
  std::optional<std::string> refused(socket_kind kind, mac_address vm, count open,
                                     std::chrono::milliseconds now);

private:
  static constexpr std::size_t kinds = 4;
  std::array<std::size_t, kinds> limits_;
  std::array<std::optional<std::chrono::milliseconds>, kinds> warned_;
};

} // namespace vmswitch
