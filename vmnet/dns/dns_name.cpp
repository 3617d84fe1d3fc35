#include "vmnet/dns/dns_name.hpp"

#include <algorithm>
#include <charconv>

#include "vmnet/dns/dns_wire.hpp"

namespace vmswitch {

namespace {

constexpr std::size_t longest_label = 63, longest_name = 255;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

} // namespace

std::optional<dns_name> dns_name::parse(std::string_view text) {
  std::string wire;
  if (text == ".")
    return dns_name{};
  if (text.ends_with('.'))
    text.remove_suffix(1);
  while (true) {
    const auto label = text.substr(0, text.find('.'));
    if (label.empty() || label.size() > longest_label || !std::ranges::all_of(label, is_plain))
      return std::nullopt;
    wire += static_cast<char>(label.size());
    std::ranges::transform(label, std::back_inserter(wire), lower);
    if (label.size() == text.size())
      break;
    text.remove_prefix(label.size() + 1);
  }
  wire += '\0';
  if (wire.size() > longest_name)
    return std::nullopt;
  return dns_name{std::move(wire)};
}

std::optional<dns_name> dns_name::read(std::span<const std::byte> message, std::size_t& at) {
  std::string wire;
  for (auto next = at; next < message.size();) {
    const std::size_t size = dns_u8(message, next);
    if (size > longest_label || wire.size() + 1 + size > longest_name ||
        next + 1 + size > message.size())
      return std::nullopt;
    wire += static_cast<char>(size);
    for (std::size_t i = 0; i < size; ++i)
      wire += lower(static_cast<char>(dns_u8(message, next + 1 + i)));
    next += 1 + size;
    if (size == 0) {
      at = next;
      return dns_name{std::move(wire)};
    }
  }
  return std::nullopt;
}

dns_name dns_name::reverse(ipv4_address address) {
  std::string text;
  for (int shift = 0; shift < 32; shift += 8)
    text += std::to_string(address.value >> shift & 0xff) + ".";
  return *parse(text + "in-addr.arpa");
}

dns_name dns_name::reverse(const ipv6_address& address) {
  std::string text;
  for (auto octet = address.octets.rbegin(); octet != address.octets.rend(); ++octet)
    for (const int digit : {*octet & 15, *octet >> 4}) {
      text += "0123456789abcdef"[digit];
      text += '.';
    }
  return *parse(text + "ip6.arpa");
}

std::size_t dns_name::labels() const noexcept {
  std::size_t count = 0;
  for (std::size_t at = 0; wire_[at] != '\0'; at += 1 + static_cast<std::size_t>(wire_[at]))
    ++count;
  return count;
}

std::string_view dns_name::first_label() const noexcept {
  return std::string_view{wire_}.substr(1, static_cast<std::size_t>(wire_[0]));
}

dns_name dns_name::parent() const {
  return is_root() ? *this : dns_name{wire_.substr(1 + first_label().size())};
}

bool dns_name::is_within(const dns_name& parent) const noexcept {
  std::size_t at = 0;
  while (wire_.size() - at > parent.wire_.size())
    at += 1 + static_cast<std::size_t>(wire_[at]);
  return std::string_view{wire_}.substr(at) == parent.wire_;
}

std::optional<dns_name> dns_name::with_label(std::string_view label) const {
  if (label.empty() || label.size() > longest_label ||
      wire_.size() + 1 + label.size() > longest_name)
    return std::nullopt;
  std::string wire(1, static_cast<char>(label.size()));
  std::ranges::transform(label, std::back_inserter(wire), lower);
  return dns_name{wire + wire_};
}

std::string to_string(const dns_name& name) {
  std::string text;
  for (auto rest = name; !rest.is_root(); rest = rest.parent()) {
    if (!text.empty())
      text += '.';
    for (const char c : rest.first_label()) {
      const auto octet = static_cast<unsigned char>(c);
      if (octet <= 0x20 || octet >= 0x7f) {
        text += '\\';
        for (const int unit : {100, 10, 1})
          text += static_cast<char>('0' + octet / unit % 10);
        continue;
      }
      if (c == '.' || c == '\\' || c == '"')
        text += '\\';
      text += c;
    }
  }
  return text.empty() ? "." : text;
}

std::optional<reverse_block> reverse_block_of(const dns_name& name) {
  static const auto arpa = *dns_name::parse("in-addr.arpa");
  if (!name.is_within(arpa))
    return std::nullopt;
  const auto count = name.labels() - arpa.labels();
  reverse_block found{{}, static_cast<std::uint8_t>(std::min<std::size_t>(count, 4)), count > 4};
  auto rest = name;
  for (auto i = count; i > 0; --i, rest = rest.parent()) {
    if (i > 4)
      continue;
    const auto label = rest.first_label();
    unsigned octet = 0;
    const auto [end, problem] = std::from_chars(label.data(), label.data() + label.size(), octet);
    if (problem != std::errc{} || end != label.data() + label.size() || octet > 255 ||
        (label.size() > 1 && label[0] == '0'))
      return std::nullopt;
    found.first.value |= octet << (32 - 8 * i);
  }
  return found;
}

} // namespace vmswitch
