#include "app/toml_document.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace vmswitch {

namespace {

struct syntax_error {
  std::string text;
  toml::source_position place;
};

// The packaged library reports by exceptions; this is as far as they get.
std::optional<syntax_error> try_parse(std::string_view text, toml::table& root) {
  try {
    root = toml::parse(text);
    return {};
  } catch (const toml::parse_error& e) {
    return syntax_error{std::string{e.description()}, e.source().begin};
  }
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

struct span_of_line {
  std::size_t begin = 0;
  std::size_t size = 0;
};

span_of_line find_line(std::string_view text, std::size_t number) {
  std::size_t begin = 0;
  for (std::size_t i = 1; i < number; ++i) {
    const auto newline = text.find('\n', begin);
    if (newline == std::string_view::npos)
      return {text.size(), 0};
    begin = newline + 1;
  }
  return {begin, std::min(text.find('\n', begin), text.size()) - begin};
}

// The key that a broken line is about, with the table it stands in: "network.listen.mode".
std::string key_of(std::string_view text, const span_of_line& line) {
  const auto content = text.substr(line.begin, line.size);
  const auto equals = content.find('=');
  if (equals == std::string_view::npos)
    return {};
  std::string key{trimmed(content.substr(0, equals))};
  std::size_t end = line.begin;
  while (end > 0) {
    const auto newline = end == 1 ? std::string_view::npos : text.rfind('\n', end - 2);
    const auto begin = newline == std::string_view::npos ? 0 : newline + 1;
    auto header = trimmed(text.substr(begin, end - 1 - begin));
    if (header.starts_with('[')) {
      header.remove_prefix(std::min(header.find_first_not_of('['), header.size()));
      return fmt::format("{}.{}", trimmed(header.substr(0, header.find(']'))), key);
    }
    end = begin;
  }
  return key;
}

std::string advice(std::string_view description) {
  if (description.find("redefine") != std::string_view::npos)
    return "; keep one of the two";
  if (description.find("leading zeroes") != std::string_view::npos)
    return "; leave them out, or, if this is a file mode, write it as text, such as \"0660\" in "
           "quotes";
  if (description.find("value") != std::string_view::npos)
    return "; text stands in double quotes, true and false are lower-case";
  return {};
}

// The parser follows dotted keys recursively, however long they are.
constexpr std::ptrdiff_t most_dots = 512;

std::optional<std::uint32_t> line_with_many_dots(std::string_view text) {
  for (std::uint32_t line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    if (std::ranges::count(text.substr(0, end), '.') > most_dots)
      return line;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

// What a mistake in this line spoils ends with the line.
bool is_local(const syntax_error& mistake, std::string_view line) {
  if (trimmed(line).empty() || trimmed(line).starts_with('['))
    return false;
  if (mistake.text.find("redefine") != std::string::npos)
    return true;
  toml::table ignored;
  return try_parse(line, ignored).has_value();
}

} // namespace

bool toml_document::may_have_lost(std::string_view name, std::size_t line) const {
  return std::ranges::any_of(lost, [&](const lost_line& one) {
    return one.line >= line && (one.key.empty() || one.key == name);
  });
}

toml_document parse_toml(std::string_view text, config_report& report) {
  toml_document document;
  if (const auto line = line_with_many_dots(text)) {
    report.add(
        {*line, 1}, "",
        fmt::format("the line has more than {} dots: no key here is nested like that", most_dots));
    document.usable = false;
    return document;
  }
  if (text.size() > max_config_size) {
    report.add({1, 1}, "", fmt::format("the file has more than {} bytes", max_config_size));
    document.usable = false;
    return document;
  }
  std::string rest{text};
  for (;;) {
    auto mistake = try_parse(rest, document.root);
    if (!mistake)
      return document;
    const auto line = find_line(rest, mistake->place.line);
    const auto content = std::string_view{rest}.substr(line.begin, line.size);
    const auto key = key_of(rest, line);
    const bool go_on = document.lost.size() + 1 < max_syntax_errors && is_local(*mistake, content);
    report.add(mistake->place, key,
               fmt::format("{}{}{}", mistake->text, advice(mistake->text),
                           go_on ? "" : " (what follows was not looked at)"));
    if (!go_on) {
      document.usable = false;
      return document;
    }
    document.lost.push_back({mistake->place.line, key});
    rest.replace(line.begin, line.size, line.size, ' ');
  }
}

} // namespace vmswitch
