#include "vmnet/ip_address.hpp"

namespace vmswitch {

namespace {

constexpr ipv6_address loopback6{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

} // namespace

std::optional<ip_address> parse_ip_address(std::string_view text) {
  if (const auto four = ipv4_address::parse(text))
    return *four;
  if (const auto six = ipv6_address::parse(text))
    return *six;
  return std::nullopt;
}

std::string to_string(const ip_address& address) {
  return std::visit([](const auto& one) { return to_string(one); }, address);
}

std::string to_string(const ip_address& address, std::uint16_t port) {
  const auto text = to_string(address);
  return (is_ipv4(address) ? text : "[" + text + "]") + ":" + std::to_string(port);
}

bool is_unspecified(const ip_address& address) noexcept {
  if (const auto* four = std::get_if<ipv4_address>(&address))
    return four->value == 0;
  return std::get_if<ipv6_address>(&address)->is_unspecified();
}

bool is_loopback(const ip_address& address) noexcept {
  if (const auto* four = std::get_if<ipv4_address>(&address))
    return four->value >> 24 == 127;
  return *std::get_if<ipv6_address>(&address) == loopback6;
}

bool is_group(const ip_address& address) noexcept {
  if (const auto* four = std::get_if<ipv4_address>(&address))
    return four->value >> 28 == 0xe || four->value == 0xffff'ffff;
  return std::get_if<ipv6_address>(&address)->octets[0] == 0xff;
}

} // namespace vmswitch
