#include "vmnet/ipv4.hpp"

#include <charconv>

namespace vmswitch {

std::optional<ipv4_address> ipv4_address::parse(std::string_view text) {
  std::uint32_t value = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (text.empty() || text.front() != '.')
        return std::nullopt;
      text.remove_prefix(1);
    }
    unsigned octet = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), octet);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (problem != std::errc{} || octet > 255 || (digits > 1 && text.front() == '0'))
      return std::nullopt;
    value = value << 8 | octet;
    text.remove_prefix(digits);
  }
  if (!text.empty())
    return std::nullopt;
  return ipv4_address{value};
}

std::optional<ipv4_subnet> ipv4_subnet::parse(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return std::nullopt;
  const auto address = ipv4_address::parse(text.substr(0, slash));
  const auto digits = text.substr(slash + 1);
  unsigned length = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (!address || problem != std::errc{} || end != digits.data() + digits.size() || length > 32 ||
      (digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  const ipv4_subnet subnet{*address, static_cast<std::uint8_t>(length)};
  if ((address->value & ~subnet.mask().value) != 0)
    return std::nullopt;
  return subnet;
}

std::string to_string(ipv4_address address) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text += std::to_string(address.value >> shift & 0xff);
    if (shift > 0)
      text += '.';
  }
  return text;
}

std::string to_string(const ipv4_subnet& subnet) {
  return to_string(subnet.network) + "/" + std::to_string(subnet.prefix_length);
}

} // namespace vmswitch
