#include "app/control/http_types.hpp"

#include <charconv>

#include <nlohmann/json.hpp>

namespace vmswitch {

namespace {

constexpr std::size_t most_parameters = 32;

std::optional<std::string> decode(std::string_view text, bool is_query) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && is_query) {
      c = ' ';
    } else if (c == '%') {
      if (i + 2 >= text.size())
        return {};
      unsigned value = 0;
      const auto* begin = text.data() + i + 1;
      const auto [end, failure] = std::from_chars(begin, begin + 2, value, 16);
      if (failure != std::errc{} || end != begin + 2)
        return {};
      c = static_cast<char>(value);
      i += 2;
    }
    if (c == '\0')
      return {};
    out += c;
  }
  return out;
}

} // namespace

http_response error_response(unsigned status, std::string_view text) {
  using nlohmann::ordered_json;
  const ordered_json body{{"error", text}};
  return {status, body.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n"};
}

std::optional<request_target> parse_target(std::string_view target) {
  if (!target.starts_with('/'))
    return {};
  target = target.substr(0, target.find('#'));
  const auto mark = target.find('?');
  request_target out;
  auto path = decode(target.substr(0, mark), false);
  if (!path)
    return {};
  out.path = std::move(*path);
  if (mark == std::string_view::npos)
    return out;
  auto rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const auto part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(part.size() < rest.size() ? part.size() + 1 : rest.size());
    if (part.empty())
      continue;
    const auto equals = part.find('=');
    auto name = decode(part.substr(0, equals), true);
    auto value =
        equals == std::string_view::npos ? std::string{} : decode(part.substr(equals + 1), true);
    if (!name || !value || out.query.size() >= most_parameters)
      return {};
    out.query.insert_or_assign(std::move(*name), std::move(*value));
  }
  return out;
}

} // namespace vmswitch
