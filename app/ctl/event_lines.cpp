#include "app/ctl/event_lines.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/ctl/ctl_views.hpp"
#include "app/printable.hpp"

namespace vmswitch {

namespace {

constexpr std::size_t longest = std::size_t{1} << 20;

bool is_trouble(std::string_view type) {
  return type == "drops" || type == "host_down" || type == "network_failed" ||
         type == "mac_flapping" || type == "lost";
}

} // namespace

void event_lines::feed(std::string_view piece, const std::function<void(std::string_view)>& take) {
  for (const char c : piece) {
    if (c != '\n') {
      if (line_.size() < longest)
        line_ += c;
      continue;
    }
    if (line_.empty() && !data_.empty()) {
      take(data_);
      data_.clear();
    } else if (line_.starts_with("data: ") && data_.size() < longest) {
      data_ += line_.substr(6);
    }
    line_.clear();
  }
}

std::string event_view(std::string_view json, bool colour) {
  const auto event = nlohmann::json::parse(json, nullptr, false);
  const auto type = text_of(event, "type");
  const auto time = text_of(event, "time"); // 2026-01-31T12:00:00Z
  auto text = text_of(event, "text");
  if (const auto alias = text_of(event, "alias"); !alias.empty())
    text = alias + ": " + text;
  if (type == "lost")
    text = fmt::format("{:.0f} events are missing", number_of(event, "events"));
  const bool red = colour && is_trouble(type);
  return fmt::format("{:<8}  {}{:<14}{}  {:<10}  {}\n", time.size() == 20 ? time.substr(11, 8) : "",
                     red ? "\x1b[31m" : "", printable(type), red ? "\x1b[0m" : "",
                     printable(text_of(event, "network")), printable(text));
}

} // namespace vmswitch
