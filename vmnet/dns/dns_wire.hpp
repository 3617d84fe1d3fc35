#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace vmswitch {

using dns_bytes = std::vector<std::byte>;

/// Big-endian fields. @pre they lie within `from`
inline std::uint8_t dns_u8(std::span<const std::byte> from, std::size_t at) noexcept {
  return std::to_integer<std::uint8_t>(from[at]);
}
inline std::uint16_t dns_u16(std::span<const std::byte> from, std::size_t at) noexcept {
  return static_cast<std::uint16_t>(dns_u8(from, at) << 8 | dns_u8(from, at + 1));
}
inline std::uint32_t dns_u32(std::span<const std::byte> from, std::size_t at) noexcept {
  return std::uint32_t{dns_u16(from, at)} << 16 | dns_u16(from, at + 2);
}
inline void set_u16(std::span<std::byte> to, std::size_t at, std::uint16_t value) noexcept {
  to[at] = static_cast<std::byte>(value >> 8);
  to[at + 1] = static_cast<std::byte>(value);
}
inline void set_u32(std::span<std::byte> to, std::size_t at, std::uint32_t value) noexcept {
  set_u16(to, at, static_cast<std::uint16_t>(value >> 16));
  set_u16(to, at + 2, static_cast<std::uint16_t>(value));
}
inline void add_u8(dns_bytes& to, unsigned value) {
  to.push_back(static_cast<std::byte>(value));
}
inline void add_u16(dns_bytes& to, unsigned value) {
  add_u8(to, value >> 8 & 0xff);
  add_u8(to, value & 0xff);
}
inline void add_u32(dns_bytes& to, std::uint32_t value) {
  add_u16(to, value >> 16);
  add_u16(to, value & 0xffff);
}
inline void add_octets(dns_bytes& to, std::string_view octets) {
  for (const char octet : octets)
    to.push_back(static_cast<std::byte>(octet));
}

} // namespace vmswitch
