#include "app/control/reload_api.hpp"

#include <optional>
#include <string>

#include "app/control/json_views.hpp"

namespace vmswitch {

using nlohmann::ordered_json;

namespace {

// By a parameter, for curl, or in the body. Nothing if it is neither yes nor no.
std::optional<bool> wants_dry_run(const http_request& request) {
  if (const auto found = request.query.find("dry_run"); found != request.query.end()) {
    const auto& value = found->second;
    if (value == "1" || value == "true")
      return true;
    return value == "0" || value == "false" ? std::optional{false} : std::nullopt;
  }
  if (request.body.empty())
    return false;
  const auto body = ordered_json::parse(request.body, nullptr, false);
  if (!body.is_object())
    return {};
  const auto found = body.find("dry_run");
  if (found == body.end())
    return false;
  return found->is_boolean() ? std::optional{found->get<bool>()} : std::nullopt;
}

http_response answer_to(const reload_report& report) {
  if (report.errors.empty())
    return {200, to_text(reload_json(report))};
  std::string all;
  for (const auto& mistake : report.errors)
    all += (all.empty() ? "" : "\n") + mistake;
  return error_response(422, all);
}

} // namespace

ordered_json reload_json(const reload_report& report) {
  auto changes = ordered_json::array();
  for (const auto& step : report.steps) {
    ordered_json change{{"text", step.text}, {"done", !report.dry_run && step.failure.empty()}};
    if (!step.failure.empty())
      change["failure"] = step.failure;
    changes.push_back(std::move(change));
  }
  auto held = ordered_json::array();
  for (const auto& each : report.held)
    held.push_back({{"text", each.text}, {"why", each.why}});
  return {{"dry_run", report.dry_run},
          {"failed", report.failures()},
          {"summary", summary(report)},
          {"changes", std::move(changes)},
          {"needs_restart", std::move(held)}};
}

void add_reload(router& routes, const control_hooks& hooks) {
  routes.add("POST", "/v1/reload", control_role::full,
             [&hooks](const http_request& request, const responder& answer) {
               const auto dry_run = wants_dry_run(request);
               if (!dry_run)
                 return answer(error_response(400, "dry_run is true or false"));
               hooks.reload(*dry_run,
                            [answer](const reload_report& report) { answer(answer_to(report)); });
             });
}

} // namespace vmswitch
