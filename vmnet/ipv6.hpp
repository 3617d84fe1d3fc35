#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/frame/mac_address.hpp"

namespace vmswitch {

/// An IPv6 address, octets in wire order.
struct ipv6_address {
  std::array<std::uint8_t, 16> octets{};
  friend auto operator<=>(const ipv6_address&, const ipv6_address&) = default;

  /// Accepts the forms of RFC 4291, 2.2, without a zone or a prefix length.
  static std::optional<ipv6_address> parse(std::string_view text);
  bool is_unspecified() const noexcept { return *this == ipv6_address{}; }
  /// fe80::/10 (RFC 4291, 2.5.6).
  bool is_link_local() const noexcept { return octets[0] == 0xfe && (octets[1] & 0xc0) == 0x80; }
};

/// The least MTU that a link with IPv6 may have (RFC 8200, 5).
inline constexpr std::uint32_t least_ipv6_mtu = 1280;

/// The /64 `prefix` with the interface identifier `number`.
ipv6_address ipv6_host(const ipv6_address& prefix, std::uint8_t number);

/// fe80::/64 with the modified EUI-64 of the address (RFC 4291, appendix A).
ipv6_address link_local_for(mac_address address);

/// In the form of RFC 5952: "fd00::1".
std::string to_string(const ipv6_address& address);

} // namespace vmswitch
