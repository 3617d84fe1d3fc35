#include "vmnet/tap/undo_record.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace vmswitch {

namespace {

using what = device_step::what;

constexpr std::array<std::pair<std::string_view, what>, 5> kinds{{
    {"address4", what::address4},
    {"address6", what::address6},
    {"mtu", what::mtu},
    {"setting", what::setting},
    {"up", what::up},
}};

constexpr std::string_view digits = "0123456789";

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool is_setting(std::string_view value) {
  const auto equals = value.find('=');
  return equals != std::string_view::npos &&
         (value.starts_with("ipv4/") || value.starts_with("ipv6/")) && equals > 5 &&
         consists_of(value.substr(5, equals - 5), "abcdefghijklmnopqrstuvwxyz_0123456789") &&
         consists_of(value.substr(equals + 1), "-0123456789");
}

bool is_value(what kind, std::string_view value) {
  switch (kind) {
  case what::address4:
    return consists_of(value, "0123456789./");
  case what::address6:
    return consists_of(value, "0123456789abcdef:./");
  case what::mtu:
    return value.size() <= 5 && consists_of(value, digits);
  case what::setting:
    return is_setting(value);
  case what::up:
    return value.empty();
  case what::mac:
  case what::bridge:
    break;
  }
  return false;
}

// Settings and the MTU are written as they were; the others have an opposite.
bool has_opposite(what kind) {
  return kind != what::mtu && kind != what::setting;
}

} // namespace

std::optional<std::string> to_record(const device_step& undo) {
  const auto kind = std::ranges::find(kinds, undo.kind, &decltype(kinds)::value_type::second);
  if (kind == kinds.end() || !is_value(undo.kind, undo.value))
    return std::nullopt;
  return std::string{kind->first} + (undo.value.empty() ? "" : " " + undo.value);
}

std::optional<device_step> from_record(std::string_view record) {
  const auto blank = std::min(record.find(' '), record.size());
  const auto kind =
      std::ranges::find(kinds, record.substr(0, blank), &decltype(kinds)::value_type::first);
  if (kind == kinds.end())
    return std::nullopt;
  const auto value = record.substr(std::min(blank + 1, record.size()));
  if (!is_value(kind->second, value))
    return std::nullopt;
  return device_step{kind->second, std::string{value}, has_opposite(kind->second)};
}

} // namespace vmswitch
