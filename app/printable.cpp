#include "app/printable.hpp"

#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace vmswitch {

namespace {

// C1 controls, which steer terminals as well, are two bytes in UTF-8.
std::size_t control_length(std::string_view rest) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  if (at(0) < 0x20 || at(0) == 0x7f)
    return 1;
  return rest.size() > 1 && at(0) == 0xc2 && at(1) >= 0x80 && at(1) < 0xa0 ? 2 : 0;
}

} // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto length = control_length(text);
    if (length == 0)
      out += text[0];
    else if (text[0] == '\n')
      out += "\\n";
    else
      for (const char c : text.substr(0, length))
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out += printable(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return out + printable(text);
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most)
    return std::string{text};
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80)
    --most;
  return std::string{text.substr(0, most)} + "...";
}

} // namespace vmswitch
