#include "vmnet/tap/tap_names.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace vmswitch {

namespace {

constexpr std::string_view device_prefix = "vms-";
constexpr std::string_view table_prefix = "vmswitch-";

// FNV-1a, and a last mix so that all bits depend on all characters.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93ULL;
  return hash ^ hash >> 32;
}

} // namespace

std::string device_name_for(std::string_view network, int choice) {
  const std::string suffix = choice == 0 ? std::string{} : fmt::format("-{}", choice + 1);
  const std::size_t room = longest_device_name - device_prefix.size() - suffix.size();
  if (network.size() <= room)
    return fmt::format("{}{}{}", device_prefix, network, suffix);
  constexpr std::size_t digits = 5;
  return fmt::format("{}{}-{:05x}{}", device_prefix, network.substr(0, room - digits - 1),
                     hash_of(network) & 0xfffff, suffix);
}

mac_address device_mac_for(std::string_view device) {
  return mac_address::from_integer(std::uint64_t{0xfe} << 40 |
                                   (hash_of(device) & 0xff'ffff'ffffULL));
}

ipv6_address ula_prefix_from(std::string_view identity) {
  const auto hash = hash_of(identity);
  ipv6_address made;
  made.octets[0] = 0xfd;
  for (std::size_t i = 0; i < 5; ++i)
    made.octets[1 + i] = static_cast<std::uint8_t>(hash >> (8 * i));
  return made;
}

ipv6_address ula_prefix_for(const host_config& config) {
  if (config.ipv6_prefix)
    return *config.ipv6_prefix;
  // The subnet as well: two daemons may both call their network "default".
  return ula_prefix_from(fmt::format("{}/{}", config.name, to_string(config.subnet)));
}

std::string table_name_for(std::string_view device) {
  return fmt::format("{}{}", table_prefix, device);
}

std::optional<std::string> device_of_table(std::string_view table) {
  if (!table.starts_with(table_prefix) || table.size() == table_prefix.size() ||
      table.size() > table_prefix.size() + longest_device_name)
    return std::nullopt;
  return std::string{table.substr(table_prefix.size())};
}

} // namespace vmswitch
