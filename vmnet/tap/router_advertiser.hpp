#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/frame/mac_address.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

/// What VMs are told of their network.
struct advertised_network {
  mac_address mac;         // the router's
  ipv6_address link_local; // likewise
  ipv6_address prefix;     // a /64 that VMs make addresses in
  std::uint32_t mtu = 1500;
  bool leads_to_world = true; // false: VMs are not to take it for a default router
  std::optional<ipv6_address> dns;
};

/// Announces the network's IPv6 prefix to VMs, since the kernel sends no router advertisements
/// (RFC 4861, 6.2; the name server by RFC 8106).
///
/// Theory of operation. A solicitation from an address is answered to that address at once, one
/// from the unspecified address (a VM that has none yet) to all, but to all not more often than
/// every 3 s. Beyond that all are told every 200 to 600 s, as long as something was heard from a VM
/// since the last time; then it falls silent, and starts again with the next frame of a VM, so that
/// an idle network causes no wake-ups. Answers have a limit as well, for a VM may solicit without
/// end. There is no random delay before an answer: there is no other router to collide with.
///
/// Pure: time is told. One thread.
class router_advertiser {
public:
  using clock = std::chrono::steady_clock;
  using frame = std::vector<std::byte>;

  router_advertiser(const advertised_network& network, std::uint64_t seed);

  /// Whether on_solicitation() may have something to say to a frame; quick.
  static bool concerns(std::span<const std::byte> bare) noexcept {
    constexpr std::size_t type_at = 14 + 40;
    return bare.size() > type_at && bare[12] == std::byte{0x86} && bare[13] == std::byte{0xdd} &&
           bare[20] == std::byte{58} && bare[type_at] == std::byte{133};
  }
  /// The answer to send now, if there is one. What is no valid solicitation is ignored.
  std::optional<frame> on_solicitation(std::span<const std::byte> bare, clock::time_point now);
  /// A VM has sent something. The first form, which asks for no time, will do while due().
  void heard() noexcept { heard_ = true; }
  void heard(clock::time_point now);

  /// When on_time() has something to send; nothing while there is no VM.
  std::optional<clock::time_point> due() const noexcept { return due_; }
  std::optional<frame> on_time(clock::time_point now);

private:
  frame to(mac_address mac, const ipv6_address& address) const;
  bool may_answer(clock::time_point now);
  void schedule_by(clock::time_point when);
  std::chrono::seconds next_interval() noexcept;

  const advertised_network network_;
  std::uint64_t random_;
  std::optional<clock::time_point> due_;
  std::optional<clock::time_point> told_all_;
  bool heard_ = false; // since then
  unsigned answers_ = 0;
  clock::time_point answers_since_{};
};

} // namespace vmswitch
