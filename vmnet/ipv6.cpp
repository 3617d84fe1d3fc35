#include "vmnet/ipv6.hpp"

#include <arpa/inet.h>

namespace vmswitch {

std::optional<ipv6_address> ipv6_address::parse(std::string_view text) {
  ipv6_address made;
  // A NUL inside would end the text early.
  if (text.find('\0') != std::string_view::npos ||
      ::inet_pton(AF_INET6, std::string{text}.c_str(), made.octets.data()) != 1)
    return std::nullopt;
  return made;
}

ipv6_address ipv6_host(const ipv6_address& prefix, std::uint8_t number) {
  ipv6_address made = prefix;
  for (std::size_t i = 8; i < 15; ++i)
    made.octets[i] = 0;
  made.octets[15] = number;
  return made;
}

ipv6_address link_local_for(mac_address address) {
  std::array<std::byte, 6> mac{};
  address.write(mac.data());
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint8_t>(mac[i]); };
  ipv6_address made;
  made.octets = {
      0xfe,  0x80,  0,    0,    0,     0,     0,    0, static_cast<std::uint8_t>(at(0) ^ 2),
      at(1), at(2), 0xff, 0xfe, at(3), at(4), at(5)};
  return made;
}

std::string to_string(const ipv6_address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, address.octets.data(), text.data(), text.size());
  return text.data();
}

} // namespace vmswitch
