#include "app/reload/reload_report.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace vmswitch {

std::size_t reload_report::failures() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(steps, [](const step& each) { return !each.failure.empty(); }));
}

std::string summary(const reload_report& report) {
  if (!report.errors.empty())
    return fmt::format("refused, {} mistake(s): nothing has changed", report.errors.size());
  if (report.steps.empty() && report.held.empty())
    return "the configuration is in effect already";
  const auto failed = report.failures();
  auto text = fmt::format("{} change(s) {}", report.steps.size() - failed,
                          report.dry_run ? "to make" : "made");
  if (failed > 0)
    text += fmt::format(", {} failed", failed);
  if (!report.held.empty())
    text += fmt::format(", {} need(s) a restart", report.held.size());
  return text;
}

} // namespace vmswitch
