#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "vmnet/ipv4.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

/// An address of either family.
using ip_address = std::variant<ipv4_address, ipv6_address>;

/// Accepts both notations, without brackets, zone or prefix length.
std::optional<ip_address> parse_ip_address(std::string_view text);

std::string to_string(const ip_address& address);
/// With a port: "127.0.0.1:22", "[::1]:22".
std::string to_string(const ip_address& address, std::uint16_t port);

inline bool is_ipv4(const ip_address& address) noexcept {
  return std::holds_alternative<ipv4_address>(address);
}
/// 0.0.0.0 or ::, which stand for all addresses of the host.
bool is_unspecified(const ip_address& address) noexcept;
/// 127.0.0.0/8 or ::1.
bool is_loopback(const ip_address& address) noexcept;
/// Multicast, or the broadcast address of all networks.
bool is_group(const ip_address& address) noexcept;

} // namespace vmswitch
