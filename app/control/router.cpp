#include "app/control/router.hpp"

#include <fmt/format.h>

namespace vmswitch {

namespace {

std::string_view next_segment(std::string_view& rest) {
  if (rest.starts_with('/'))
    rest.remove_prefix(1);
  const auto segment = rest.substr(0, rest.find('/'));
  rest.remove_prefix(segment.size());
  return segment;
}

bool matches(std::string_view pattern, std::string_view path,
             std::map<std::string, std::string, std::less<>>& captures) {
  captures.clear();
  while (!pattern.empty() && !path.empty()) {
    const auto wanted = next_segment(pattern);
    const auto given = next_segment(path);
    if (wanted.starts_with('{')) {
      if (given.empty())
        return false;
      captures.insert_or_assign(std::string{wanted.substr(1, wanted.size() - 2)},
                                std::string{given});
    } else if (wanted != given) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

} // namespace

void router::add(std::string method, std::string pattern, control_role needs, http_handler handle) {
  routes_.push_back({std::move(method), std::move(pattern), needs, std::move(handle)});
}

void router::handle(http_request request, const responder& answer) const {
  if (request.role == control_role::none)
    return answer(error_response(
        403, fmt::format("{} may not look at this daemon: ask for a place in control_readers or "
                         "control_admins of its configuration",
                         to_string(request.caller))));
  std::string allowed;
  for (const auto& each : routes_) {
    if (!matches(each.pattern, request.path, request.captures))
      continue;
    if (each.method != request.method) {
      allowed += (allowed.empty() ? "" : ", ") + each.method;
      continue;
    }
    if (request.role < each.needs)
      return answer(error_response(
          403, fmt::format("{} may look but change nothing here: be root, the daemon's own user, "
                           "or in control_admins of its configuration",
                           to_string(request.caller))));
    return each.handle(request, answer);
  }
  if (allowed.empty())
    return answer(error_response(
        404, fmt::format("there is no {}: /v1/openapi.json lists what there is", request.path)));
  auto refusal =
      error_response(405, fmt::format("{} is not possible here; {} is", request.method, allowed));
  refusal.headers.emplace_back("Allow", allowed);
  answer(std::move(refusal));
}

} // namespace vmswitch
