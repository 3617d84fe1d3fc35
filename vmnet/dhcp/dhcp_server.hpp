#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vmnet/dhcp/dhcp_config.hpp"
#include "vmnet/dhcp/dhcp_reply.hpp"
#include "vmnet/dhcp/dhcp_request.hpp"
#include "vmnet/dhcp/lease_table.hpp"

namespace vmswitch {

/// Something that happened to a lease, for the log.
struct dhcp_event {
  enum class what : std::uint8_t {
    leased,
    renewed,
    released,
    refused,   ///< the client may not have this address, and is told so
    declined,  ///< the client found the address in use
    exhausted, ///< there is no address for the client
    in_use,    ///< an address of the range is used by somebody who has not asked for it
  } kind;
  mac_address client;
  ipv4_address address; // of `exhausted`: none
  std::string name;     // may be empty; letters, digits, '-'
  friend bool operator==(const dhcp_event&, const dhcp_event&) = default;
};

/// "52:54:00:12:34:56 has 192.168.105.10 (name web)"
std::string to_string(const dhcp_event& event);

/// The DHCP server of a network (RFC 2131), as pure logic: a frame and the time in, frames out.
///
/// Theory of operation. It is the only server of its network, hence authoritative: a client that
/// insists on an address that it may not have gets a NAK at once, and one that comes back with an
/// address that is free keeps it, even if nothing is remembered of it. A client is its MAC address,
/// whatever identifier it sends: the identifier changes with reinstallations, and is the same in
/// clones. A client speaks for itself only: the MAC address in the message must be the one that the
/// frame comes from.
///
/// Work is bounded: `burst_limit` messages at once and `rate_limit` a second, more are dropped, and
/// clients ask again.
///
/// Not here: BOOTP, relays, rapid commit, FORCERENEW, authentication.
class dhcp_server {
public:
  using time_point = lease_table::time_point;

  static constexpr std::uint32_t burst_limit = 2000;
  static constexpr std::uint32_t rate_limit = 500;

  /// @pre check_dhcp_config() of what `settings` come from
  explicit dhcp_server(dhcp_settings settings);

  /// The gateway's MAC address, from which answers come. To be set before frames are given.
  void set_mac(mac_address mac) noexcept { mac_ = mac; }

  /// Other settings from now on. Leases go on where they may: see lease_table. @pre as above
  void change(dhcp_settings settings, time_point now);
  /// Takes over the leases of a server that it replaces. @pre it has given none
  void inherit(const dhcp_server& before, time_point now) { leases_.inherit(before.leases_, now); }

  /// Whether this frame is for the server: UDP to port 67, broadcast or to the gateway.
  bool is_for_server(std::span<const std::byte> frame) const noexcept {
    return frame.size() >= 14 + 20 + 8 && is_udp(frame) && is_dhcp(frame);
  }

  struct outcome {
    std::vector<std::vector<std::byte>> frames; ///< to be sent
    std::optional<dhcp_event> event;
  };
  /// @pre is_for_server(frame)
  outcome receive(std::span<const std::byte> frame, time_point now);

  /// Looks at an ARP packet of a VM: it tells which addresses are in use.
  /// @pre the frame's type is ARP
  std::optional<dhcp_event> observe_arp(std::span<const std::byte> frame, time_point now);

  /// Messages that were dropped: malformed or not for us, and too many.
  std::uint64_t ignored() const noexcept { return ignored_; }
  std::uint64_t over_limit() const noexcept { return over_limit_; }

  lease_table& leases() noexcept { return leases_; }
  const lease_table& leases() const noexcept { return leases_; }

private:
  /// A token bucket.
  class budget {
  public:
    bool take(time_point now);

  private:
    double tokens_ = burst_limit;
    time_point refilled_ = time_point::min();
  };

  static bool is_udp(std::span<const std::byte> frame) noexcept {
    return frame[12] == std::byte{8} && frame[13] == std::byte{0} && frame[23] == std::byte{17};
  }
  bool is_dhcp(std::span<const std::byte> frame) const noexcept;

  outcome on_discover(const dhcp_request& request, time_point now);
  outcome on_request(const dhcp_request& request, time_point now);
  outcome on_inform(const dhcp_request& request, time_point now);
  std::vector<std::byte> reply(const dhcp_request& request, dhcp_kind kind, ipv4_address given,
                               bool with_lease) const;
  std::vector<dhcp_option> options_for(const dhcp_request& request, bool with_lease) const;
  std::string name_of(const dhcp_request& request) const;
  void read_names();
  dhcp_identity self() const noexcept { return {mac_, settings_.gateway}; }

  dhcp_settings settings_;
  std::unordered_map<std::uint64_t, std::string> names_; // of reservations, by MAC address
  lease_table leases_;
  mac_address mac_;
  budget messages_;
  budget sightings_; // that are told
  std::uint64_t ignored_ = 0;
  std::uint64_t over_limit_ = 0;
};

} // namespace vmswitch
