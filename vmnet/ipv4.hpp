#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vmswitch {

/// An IPv4 address in host byte order.
struct ipv4_address {
  std::uint32_t value = 0;
  /// Dotted decimal, four parts, no leading zeros beyond one digit.
  static std::optional<ipv4_address> parse(std::string_view text);
  friend auto operator<=>(ipv4_address, ipv4_address) = default;
};

/// A subnet such as 192.168.105.0/24.
struct ipv4_subnet {
  ipv4_address network;
  std::uint8_t prefix_length = 0;

  /// Refuses host bits that are set ("192.168.105.1/24") and lengths over 32.
  static std::optional<ipv4_subnet> parse(std::string_view text);

  ipv4_address mask() const noexcept {
    return {prefix_length == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix_length)};
  }
  ipv4_address broadcast() const noexcept { return {network.value | ~mask().value}; }
  /// The n-th address, network + n.
  ipv4_address at(std::uint32_t n) const noexcept { return {network.value + n}; }
  /// An address that a host may have: inside, neither network nor broadcast.
  bool is_host(ipv4_address address) const noexcept {
    return address > network && address < broadcast();
  }
  friend bool operator==(const ipv4_subnet&, const ipv4_subnet&) = default;
};

std::string to_string(ipv4_address address);
std::string to_string(const ipv4_subnet& subnet);

} // namespace vmswitch
