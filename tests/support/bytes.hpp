#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "transport/frame/mac_address.hpp"
#include "vmnet/ipv4.hpp"

namespace vmswitch::test {

/// One Ethernet frame without prefix or FCS, owned.
using frame = std::vector<std::byte>;

/// Appends big-endian fields, in the order in which a header's definition lists them.
class byte_writer {
public:
  byte_writer& u8(unsigned value) {
    bytes_.push_back(static_cast<std::byte>(value));
    return *this;
  }
  byte_writer& u16(unsigned value) { return u8(value >> 8).u8(value); }
  byte_writer& u32(std::uint32_t value) { return u16(value >> 16).u16(value & 0xffff); }
  byte_writer& mac(mac_address address) {
    bytes_.resize(bytes_.size() + 6);
    address.write(bytes_.data() + bytes_.size() - 6);
    return *this;
  }
  byte_writer& ip(ipv4_address address) { return u32(address.value); }
  byte_writer& bytes(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  byte_writer& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

private:
  std::vector<std::byte> bytes_;
};

/// Reads big-endian fields. Past the end it yields zeros and `ok()` is false from then on, so that
/// a parser may read a whole header and ask once.
class byte_reader {
public:
  explicit byte_reader(std::span<const std::byte> bytes) noexcept : rest_{bytes} {}

  std::span<const std::byte> bytes(std::size_t count) noexcept {
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(integer(1)); }
  std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(integer(2)); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(integer(4)); }
  mac_address mac() noexcept { return mac_address::from_integer(integer(6)); }
  ipv4_address ip() noexcept { return {u32()}; }
  void skip(std::size_t count) noexcept { bytes(count); }

  std::span<const std::byte> rest() const noexcept { return rest_; }
  bool ok() const noexcept { return ok_; }

private:
  std::uint64_t integer(std::size_t size) noexcept {
    std::uint64_t value = 0;
    for (const std::byte octet : bytes(size))
      value = value << 8 | std::to_integer<std::uint64_t>(octet);
    return value;
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

} // namespace vmswitch::test
