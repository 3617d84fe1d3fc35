#include "app/setting_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/suggestion.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

namespace {

template <class T>
struct named {
  std::string_view name;
  T value;
};

constexpr std::array<named<log_level>, 5> log_levels{{{"trace", log_level::trace},
                                                      {"debug", log_level::debug},
                                                      {"info", log_level::info},
                                                      {"warn", log_level::warn},
                                                      {"error", log_level::error}}};
constexpr std::array<named<log_format>, 2> log_formats{
    {{"text", log_format::text}, {"json", log_format::json}}};
constexpr std::array<named<host_mode>, 5> host_modes{{{"user", host_mode::user},
                                                      {"isolated", host_mode::isolated},
                                                      {"host", host_mode::host},
                                                      {"shared", host_mode::shared},
                                                      {"bridged", host_mode::bridged}}};
constexpr std::array<named<listen_type>, 2> listen_types{
    {{"stream", listen_type::stream}, {"dgram", listen_type::dgram}}};

template <class T>
result<T> parse_name(std::string_view text, std::span<const named<T>> all) {
  std::vector<std::string_view> names;
  for (const auto& one : all) {
    if (one.name == text)
      return one.value;
    names.push_back(one.name);
  }
  return fail(fmt::format("\"{}\" is not one of \"{}\"{}", text, fmt::join(names, "\", \""),
                          did_you_mean(text, names)));
}

template <class T>
std::string_view name_of(T value, std::span<const named<T>> all) {
  const auto found = std::ranges::find(all, value, &named<T>::value);
  return found == all.end() ? "?" : found->name;
}

bool is_name_character(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

} // namespace

result<log_level> parse_log_level(std::string_view text) {
  return parse_name<log_level>(text, log_levels);
}

result<log_format> parse_log_format(std::string_view text) {
  return parse_name<log_format>(text, log_formats);
}

result<host_mode> parse_host_mode(std::string_view text) {
  return parse_name<host_mode>(text, host_modes);
}

result<listen_type> parse_listen_type(std::string_view text) {
  return parse_name<listen_type>(text, listen_types);
}

result<mode_t> parse_socket_mode(std::string_view text) {
  unsigned value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (failure != std::errc{} || end != text.data() + text.size() || value > 0777 ||
      text.size() < 3 || text.size() > 4)
    return fail(fmt::format("\"{}\" is not a file mode: write three or four octal digits up to "
                            "0777, such as \"0660\"",
                            text));
  return static_cast<mode_t>(value);
}

result<ipv4_subnet> parse_subnet(std::string_view text) {
  auto subnet = ipv4_subnet::parse(text);
  if (!subnet) {
    const auto slash = text.find('/');
    const auto address = ipv4_address::parse(text.substr(0, slash));
    if (address && slash == std::string_view::npos)
      return fail(fmt::format("\"{}\" lacks its prefix length: write \"{}/24\"", text, text));
    const auto prefix = slash == std::string_view::npos
                            ? result<std::int64_t>{fail("")}
                            : parse_integer(text.substr(slash + 1), 8, 27);
    if (address && prefix) {
      ipv4_subnet right{*address, static_cast<std::uint8_t>(*prefix)};
      right.network.value &= right.mask().value;
      return fail(fmt::format("\"{}\" has bits set behind its prefix: write \"{}\"", text,
                              to_string(right)));
    }
    return fail(fmt::format("\"{}\" is not an IPv4 subnet: write one such as "
                            "\"192.168.105.0/24\", with a prefix of 8 to 27",
                            text));
  }
  if (subnet->prefix_length < 8 || subnet->prefix_length > 27)
    return fail(fmt::format("\"{}\" has a prefix length outside 8 to 27", text));
  return *subnet;
}

result<ipv4_address> parse_address(std::string_view text) {
  if (const auto address = ipv4_address::parse(text))
    return *address;
  return fail(
      fmt::format("\"{}\" is not an IPv4 address: write one such as \"192.168.105.1\"", text));
}

result<ipv6_address> parse_ipv6_prefix(std::string_view text) {
  auto address = text;
  if (address.ends_with("/64"))
    address.remove_suffix(3);
  const auto prefix = ipv6_address::parse(address);
  if (!prefix)
    return fail(fmt::format("\"{}\" is not an IPv6 prefix of 64 bits: write one such as "
                            "\"fd12:3456:789a:1::\"",
                            text));
  if (prefix->octets[0] != 0xfd)
    return fail(fmt::format("\"{}\" is not a prefix for private use: it begins with \"fd\", and "
                            "random digits follow (RFC 4193)",
                            text));
  if (*prefix != ipv6_host(*prefix, 0))
    return fail(fmt::format("\"{}\" has bits set behind its 64th: write \"{}\"", text,
                            to_string(ipv6_host(*prefix, 0))));
  return *prefix;
}

result<std::string> parse_uuid(std::string_view text) {
  std::string uuid{text};
  bool right = uuid.size() == 36;
  for (std::size_t i = 0; right && i < uuid.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (uuid[i] >= 'A' && uuid[i] <= 'F')
      uuid[i] = static_cast<char>(uuid[i] - 'A' + 'a');
    const bool is_digit = (uuid[i] >= '0' && uuid[i] <= '9') || (uuid[i] >= 'a' && uuid[i] <= 'f');
    right = is_dash ? uuid[i] == '-' : is_digit;
  }
  if (!right)
    return fail(fmt::format("\"{}\" is not a UUID: uuidgen makes one such as "
                            "\"3f2c1a9e-5b7d-4c60-9d1e-8a4b6c0d2e13\"",
                            text));
  return uuid;
}

result<std::uint8_t> parse_netmask(std::string_view text) {
  if (const auto mask = ipv4_address::parse(text))
    for (std::uint8_t length = 8; length <= 27; ++length)
      if (ipv4_subnet{{}, length}.mask() == *mask)
        return length;
  return fail(fmt::format("\"{}\" is not a netmask of 8 to 27 bits: write one such as "
                          "\"255.255.255.0\"",
                          text));
}

result<mac_address> parse_vm_mac(std::string_view text) {
  const auto mac = mac_address::parse(text);
  if (!mac)
    return fail(
        fmt::format("\"{}\" is not a MAC address: write one such as \"52:54:00:12:34:56\"", text));
  if (mac->is_group() || *mac == mac_address{})
    return fail(fmt::format("\"{}\" is not the MAC address of a VM: the first octet is even, and "
                            "not all are zero",
                            text));
  return *mac;
}

result<std::string> parse_host_name(std::string_view text) {
  return check_host_name(text).map([&] { return std::string{text}; });
}

result<std::string> parse_domain_name(std::string_view text) {
  return check_domain_name(text).map([&] { return std::string{text}; });
}

result<std::string> parse_hex(std::string_view text) {
  std::string digits{text};
  std::erase_if(digits, [](char c) { return c == ':' || c == ' '; });
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned value = 0;
    const auto* begin = digits.data() + i;
    const auto [end, failure] = std::from_chars(begin, begin + 2, value, 16);
    if (failure != std::errc{} || end != begin + 2)
      break;
    bytes += static_cast<char>(value);
  }
  if (bytes.size() * 2 != digits.size())
    return fail(fmt::format("\"{}\" is not hexadecimal: write two digits for each byte, such as "
                            "\"c0a86901\"",
                            text));
  return bytes;
}

result<std::string> parse_network_name(std::string_view text) {
  if (text.empty() || text.size() > 32 || !std::ranges::all_of(text, is_name_character) ||
      text.find_first_of("-_.") == 0)
    return fail(fmt::format("\"{}\" is not a name: use 1 to 32 letters, digits, '-', '_' or '.', "
                            "the first a letter or digit",
                            text));
  return std::string{text};
}

result<std::string> parse_path(std::string_view text) {
  if (text.empty())
    return fail("the path is empty");
  if (text.find('\0') != std::string_view::npos)
    return fail("the path has a NUL character in it");
  return std::string{text};
}

result<std::string> parse_socket_path(std::string_view text) {
  return unix_address::from_path(text).map([&](const auto&) { return std::string{text}; });
}

namespace {

bool is_account_name(std::string_view text) {
  const auto is_odd = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == ':' || c == '/' || c == '\x7f';
  };
  return !text.empty() && text.size() <= 256 && std::ranges::none_of(text, is_odd);
}

} // namespace

result<std::string> parse_group(std::string_view text) {
  if (!is_account_name(text))
    return fail(fmt::format("\"{}\" is not the name of a group", text));
  return std::string{text};
}

result<std::string> parse_user(std::string_view text) {
  if (!is_account_name(text))
    return fail(fmt::format("\"{}\" is not the name of a user", text));
  return std::string{text};
}

result<std::string> parse_user_or_group(std::string_view text) {
  if (!is_account_name(text.starts_with('@') ? text.substr(1) : text))
    return fail(
        fmt::format("\"{}\" is neither the name of a user nor \"@\" and that of a group", text));
  return std::string{text};
}

result<std::string> parse_device_name(std::string_view text) {
  if (text.empty() || text.size() > 15 || !std::ranges::all_of(text, is_name_character) ||
      text.find_first_of("-_.") == 0)
    return fail(fmt::format("\"{}\" is not the name of a network device: use 1 to 15 letters, "
                            "digits, '-', '_' or '.', the first a letter or digit",
                            text));
  return std::string{text};
}

result<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < low || value > high)
    return fail(fmt::format("\"{}\" is not a whole number from {} to {}", text, low, high));
  return value;
}

std::string_view to_string(log_level level) {
  return name_of<log_level>(level, log_levels);
}

std::string_view to_string(log_format format) {
  return name_of<log_format>(format, log_formats);
}

std::string_view to_string(host_mode mode) {
  return name_of<host_mode>(mode, host_modes);
}

std::string_view to_string(listen_type type) {
  return name_of<listen_type>(type, listen_types);
}

std::string socket_mode_text(mode_t mode) {
  return fmt::format("{:04o}", static_cast<unsigned>(mode));
}

} // namespace vmswitch
