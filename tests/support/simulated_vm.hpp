#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/support/dhcp.hpp"
#include "tests/support/frames.hpp"

namespace vmswitch::test {

/// A virtual machine without a machine: the part of one that the network sees.
///
/// Theory of operation. Pure: frames go in by `on_frame`, time by every call, and every call
/// returns the frames that the VM sends in response. So the same VM stands behind a memory link, a
/// real socket or an actor, and a test that owns the clock owns everything. It gets an IPv4 address
/// by DHCP (or is told one), answers ARP and ICMP echo, and pings others; what is not answered is
/// sent again by `on_time` every `resend_after`. Frames for other MAC addresses are counted and
/// otherwise ignored, as a network card does: that is how a test sees flooding.
///
/// Not here: TCP, IPv6, fragments, lease renewal.
class simulated_vm {
public:
  /// Since any moment that stays the same; never goes back.
  using time = std::chrono::milliseconds;
  using frames = std::vector<frame>;

  static constexpr time resend_after{500};

  explicit simulated_vm(mac_address mac, std::string name = {});

  /// Begins to ask for an address; `address()` tells when there is one. A refusal (NAK) begins
  /// anew by itself.
  frames request_address(time now);
  /// Uses this address instead. No router means that only `subnet` is reachable.
  void use_address(ipv4_address address, ipv4_subnet subnet, std::optional<ipv4_address> router);

  /// Begins to ping `target`, anew if it has been pinged before. `size` is that of the echo's data
  /// in bytes, at most 65,507.
  frames ping(ipv4_address target, time now, std::size_t size = 56);
  /// How long the answer took, once it has come.
  std::optional<time> round_trip(ipv4_address target) const;
  /// True if every ping so far has been answered.
  bool all_answered() const;

  /// Takes one frame from the network, without prefix.
  frames on_frame(std::span<const std::byte> bare, time now);
  /// What is due to be sent again. Call now and then.
  frames on_time(time now);

  mac_address mac() const noexcept { return mac_; }
  const std::string& name() const noexcept { return name_; }
  std::optional<ipv4_address> address() const noexcept;
  std::optional<ipv4_address> router() const noexcept;
  /// The whole answer of the DHCP server, once there is one.
  const std::optional<dhcp_message>& lease() const noexcept { return lease_; }
  /// What ARP has told about `address`.
  std::optional<mac_address> neighbour(ipv4_address address) const;

  struct counters {
    std::uint64_t for_me = 0;     ///< to this VM's own address
    std::uint64_t group = 0;      ///< broadcast and multicast
    std::uint64_t for_others = 0; ///< unicast to another address: the switch flooded it
    std::uint64_t runts = 0;
  };
  const counters& received() const noexcept { return received_; }

private:
  struct interface {
    ipv4_address address;
    ipv4_subnet subnet;
    std::optional<ipv4_address> router;
  };
  struct pending_ping {
    echo message;
    time first_sent{};
    time last_sent{};
    std::optional<time> round_trip;
  };
  enum class dhcp_state : std::uint8_t { idle, selecting, requesting, bound };

  frame dhcp_question(time now);
  frames on_dhcp(const dhcp_message& answer, time now);
  frames on_arp(const arp_packet& packet, time now);
  frames on_ipv4(const ipv4_packet& packet, time now);
  std::optional<frame> ping_again(ipv4_address target, pending_ping& ping, time now);
  std::optional<ipv4_address> next_hop(ipv4_address target) const;
  void learn(ipv4_address address, mac_address mac);

  const mac_address mac_;
  const std::string name_;
  std::mt19937 random_; // seeded with the MAC: two VMs differ, two runs do not
  std::optional<interface> interface_;
  std::map<ipv4_address, mac_address> neighbours_; // at most max_neighbours
  std::map<ipv4_address, pending_ping> pings_;
  dhcp_state dhcp_ = dhcp_state::idle;
  dhcp_message question_;
  time asked_at_{};
  std::optional<dhcp_message> lease_;
  counters received_;
};

} // namespace vmswitch::test
