#include "actors/drop_report.hpp"

#include <fmt/format.h>

namespace vmswitch {

std::string summary(const drop_counters& drops) {
  std::string text;
  for (std::size_t i = 0; i < drop_reason_count; ++i) {
    const auto reason = static_cast<drop_reason>(i);
    if (drops[reason] > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(reason), drops[reason]);
  }
  return text.empty() ? "none" : text;
}

std::string summary(const port_counters& counters) {
  std::string text = fmt::format("{} frames in, {} out", counters.frames_in, counters.frames_out);
  if (counters.drops.total() > 0)
    text += fmt::format(", {} dropped ({})", counters.drops.total(), summary(counters.drops));
  return text;
}

} // namespace vmswitch
