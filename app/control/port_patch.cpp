#include "app/control/port_patch.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vmswitch {

namespace {

using nlohmann::json;

constexpr std::size_t longest_name = 32;
constexpr const char* example = R"({"name": "web", "isolated": true, "up": false})";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_letter(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.';
}

// "lab.3", or "host": whatever network has it.
bool looks_stable(std::string_view name) {
  const auto dot = name.rfind('.');
  return name == "host" || (dot != std::string_view::npos && dot + 1 < name.size() &&
                            std::ranges::all_of(name.substr(dot + 1), is_digit));
}

result<std::string> parse_name(const json& value) {
  if (value.is_null())
    return std::string{};
  if (!value.is_string())
    return fail("name is a text, or null for none");
  auto name = value.get<std::string>();
  if (name.size() > longest_name || !std::ranges::all_of(name, is_name_letter))
    return fail(
        fmt::format("a name has at most {} letters, digits, '-', '_' and '.'", longest_name));
  if (looks_stable(name))
    return fail(fmt::format("{} could be a port's own name, as \"host\" and whatever ends in a dot "
                            "and digits: choose another",
                            name));
  return name;
}

result<bool> parse_flag(std::string_view key, const json& value) {
  if (!value.is_boolean())
    return fail(fmt::format("{} is true or false", key));
  return value.get<bool>();
}

} // namespace

result<port_change> parse_port_patch(std::string_view body) {
  const auto wanted = json::parse(body, nullptr, false);
  if (!wanted.is_object() || wanted.empty())
    return fail(fmt::format("send what is to be changed, as in {}", example));
  port_change change;
  for (const auto& [key, value] : wanted.items()) {
    if (key == "name") {
      auto name = parse_name(value);
      if (!name)
        return tl::unexpected{name.error()};
      change.alias = std::move(*name);
    } else if (key == "isolated" || key == "up") {
      const auto flag = parse_flag(key, value);
      if (!flag)
        return tl::unexpected{flag.error()};
      (key == "up" ? change.up : change.isolated) = *flag;
    } else {
      return fail("a port has no such setting; there are name, isolated and up");
    }
  }
  return change;
}

} // namespace vmswitch
