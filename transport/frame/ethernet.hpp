#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "transport/frame/mac_address.hpp"

namespace vmswitch {

/// Sizes of an Ethernet frame without FCS, in bytes (IEEE 802.3-2018, 3.1.1).
inline constexpr std::size_t ethernet_header_size = 14;
inline constexpr std::size_t vlan_tag_size = 4;
/// Bytes of the big-endian length in front of every frame in wire form.
inline constexpr std::size_t prefix_size = 4;

/// The largest frame of a network with this MTU: header, one 802.1Q tag, payload.
constexpr std::size_t max_frame_for_mtu(std::size_t mtu) noexcept {
  return ethernet_header_size + vlan_tag_size + mtu;
}

/// Reads the length of the frame in wire form at `at`. @pre four readable bytes
inline std::uint32_t read_prefix(const std::byte* at) noexcept {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}

inline void write_prefix(std::byte* at, std::uint32_t length) noexcept {
  const std::uint32_t value = __builtin_bswap32(length);
  std::memcpy(at, &value, sizeof value);
}

/// A frame whose header is known to be there. Does not own its bytes.
class ethernet_view {
public:
  /// Nothing for a runt (shorter than an Ethernet header).
  static std::optional<ethernet_view> parse(std::span<const std::byte> frame) noexcept {
    if (frame.size() < ethernet_header_size)
      return std::nullopt;
    return ethernet_view{frame};
  }
  /// @pre frame.size() >= ethernet_header_size, as the codec has checked
  static ethernet_view unchecked(std::span<const std::byte> frame) noexcept {
    return ethernet_view{frame};
  }

  mac_address destination() const noexcept { return mac_address::read(frame_.data()); }
  mac_address source() const noexcept { return mac_address::read(frame_.data() + 6); }
  std::uint16_t type() const noexcept {
    std::uint16_t value;
    std::memcpy(&value, frame_.data() + 12, sizeof value);
    return __builtin_bswap16(value);
  }
  std::span<const std::byte> frame() const noexcept { return frame_; }
  std::span<const std::byte> payload() const noexcept {
    return frame_.subspan(ethernet_header_size);
  }

private:
  explicit ethernet_view(std::span<const std::byte> frame) noexcept : frame_{frame} {}
  std::span<const std::byte> frame_;
};

} // namespace vmswitch
