#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace vmswitch {

/// A 48-bit IEEE 802 MAC address, kept as one integer: the first octet on the wire is the highest.
class mac_address {
public:
  constexpr mac_address() noexcept = default;
  /// @pre only the low 48 bits of `value` are used.
  static constexpr mac_address from_integer(std::uint64_t value) noexcept {
    return mac_address{value & 0xffff'ffff'ffffULL};
  }
  /// Reads six octets in wire order.
  static mac_address read(const std::byte* wire) noexcept {
    std::uint32_t high;
    std::uint16_t low;
    std::memcpy(&high, wire, 4);
    std::memcpy(&low, wire + 4, 2);
    return mac_address{std::uint64_t{__builtin_bswap32(high)} << 16 | __builtin_bswap16(low)};
  }
  /// Accepts "52:54:00:12:34:56" (or '-' as separator), any letter case.
  static std::optional<mac_address> parse(std::string_view text);

  void write(std::byte* wire) const noexcept {
    for (int i = 0; i < 6; ++i)
      wire[i] = static_cast<std::byte>(value_ >> (40 - 8 * i));
  }
  constexpr std::uint64_t integer() const noexcept { return value_; }
  /// Multicast or broadcast: the I/G bit (IEEE 802-2014, 8.2.2).
  constexpr bool is_group() const noexcept { return (value_ >> 40 & 1) != 0; }
  constexpr bool is_broadcast() const noexcept { return value_ == 0xffff'ffff'ffffULL; }

  friend constexpr auto operator<=>(mac_address, mac_address) noexcept = default;

private:
  explicit constexpr mac_address(std::uint64_t value) noexcept : value_{value} {}
  std::uint64_t value_ = 0;
};

inline constexpr mac_address broadcast_mac = mac_address::from_integer(0xffff'ffff'ffffULL);

/// "52:54:00:12:34:56"
std::string to_string(mac_address address);

} // namespace vmswitch
