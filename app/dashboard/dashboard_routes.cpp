#include "app/dashboard/dashboard_routes.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "app/dashboard/dashboard_files.hpp"

namespace vmswitch {

namespace {

// The page needs nothing but its own files and the API, and nobody may show it in a frame.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

http_response answer_with(const dashboard_file& file, const http_request& request) {
  http_response out;
  out.type = std::string{file.type};
  out.headers = {{"Content-Security-Policy", std::string{content_policy}},
                 {"X-Content-Type-Options", "nosniff"},
                 {"Referrer-Policy", "no-referrer"},
                 {"Cross-Origin-Resource-Policy", "same-origin"},
                 {"Cache-Control", "no-cache"}, // ask whether it is still the same
                 {"ETag", std::string{file.etag}}};
  if (!request.set_cookie.empty())
    out.headers.emplace_back("Set-Cookie", request.set_cookie);
  if (request.browser.if_none_match == file.etag)
    out.status = 304;
  else
    out.body = std::string{file.content};
  return out;
}

void show(const http_request& request, std::string_view name, const responder& answer) {
  const auto files = dashboard_files();
  const auto found = std::ranges::find(files, name, &dashboard_file::name);
  if (found == files.end())
    return answer(error_response(404, fmt::format("the dashboard has no {}", name)));
  answer(answer_with(*found, request));
}

} // namespace

void add_dashboard(router& routes) {
  routes.add("GET", "/", control_role::read,
             [](const http_request& request, const responder& answer) {
               show(request, "index.html", answer);
             });
  routes.add("GET", "/dashboard/{file}", control_role::read,
             [](const http_request& request, const responder& answer) {
               show(request, request.captures.at("file"), answer);
             });
}

} // namespace vmswitch
