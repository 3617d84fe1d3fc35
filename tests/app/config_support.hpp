#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "app/config_file.hpp"

template <>
struct doctest::StringMaker<std::vector<std::string>> {
  static doctest::String convert(const std::vector<std::string>& all) {
    std::string text;
    for (const auto& one : all)
      text += one + "\n";
    return text.c_str();
  }
};

namespace vmswitch::test {

/// "line:column key" of each mistake in `text`.
inline std::vector<std::string> places(std::string_view text) {
  std::vector<std::string> found;
  const auto settings = parse_config(text, "t.toml");
  if (!settings)
    for (const auto& e : settings.error())
      found.push_back(std::to_string(e.line) + ":" + std::to_string(e.column) + " " + e.key);
  return found;
}

/// The texts of all mistakes, one a line.
inline std::string mistakes(std::string_view text) {
  std::string all;
  const auto settings = parse_config(text, "t.toml");
  if (!settings)
    for (const auto& e : settings.error())
      all += to_string(e) + "\n";
  return all;
}

inline daemon_settings parsed(std::string_view text, const std::string& file = "t.toml") {
  const auto settings = parse_config(text, file);
  INFO(mistakes(text));
  REQUIRE(settings.has_value());
  return *settings;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A network that is right, to put lines into.
inline std::string network_with(const std::string& lines) {
  return "[[network]]\n" + lines + "\n[[network.listen]]\npath = \"/run/a.sock\"\n";
}

} // namespace vmswitch::test
