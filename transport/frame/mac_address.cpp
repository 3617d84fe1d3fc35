#include "transport/frame/mac_address.hpp"

namespace vmswitch {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

} // namespace

std::optional<mac_address> mac_address::parse(std::string_view text) {
  if (text.size() != 17)
    return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const int high = hex_digit(text[3 * i]);
    const int low = hex_digit(text[3 * i + 1]);
    if (high < 0 || low < 0)
      return std::nullopt;
    if (i < 5 && text[3 * i + 2] != ':' && text[3 * i + 2] != '-')
      return std::nullopt;
    value = value << 8 | static_cast<std::uint64_t>(high * 16 + low);
  }
  return mac_address{value};
}

std::string to_string(mac_address address) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(17, ':');
  for (std::size_t i = 0; i < 6; ++i) {
    const auto octet = address.integer() >> (40 - 8 * i) & 0xff;
    text[3 * i] = digits[octet >> 4];
    text[3 * i + 1] = digits[octet & 15];
  }
  return text;
}

} // namespace vmswitch
