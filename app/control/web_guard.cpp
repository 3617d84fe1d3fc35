#include "app/control/web_guard.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

namespace vmswitch {

namespace {

constexpr std::size_t token_octets = 16;

std::string_view without_port(std::string_view host) {
  if (host.starts_with('['))
    return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.rfind(':'));
}

bool is_address(std::string_view host) {
  return host.starts_with('[') ||
         std::ranges::all_of(host, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

// RFC 6265, 4.2.1: "a=1; b=2".
std::string_view cookie_of(std::string_view all, std::string_view name) {
  while (!all.empty()) {
    auto one = all.substr(0, all.find(';'));
    all.remove_prefix(std::min(all.size(), one.size() + 1));
    while (one.starts_with(' '))
      one.remove_prefix(1);
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
  }
  return {};
}

} // namespace

bool is_plain_host(std::string_view host) noexcept {
  const auto name = without_port(host);
  return is_address(name) || name.find('.') == std::string_view::npos ||
         name.ends_with(".localhost"); // RFC 6761, 6.3: never asked of a resolver
}

std::optional<http_response> refuse_foreign(const http_request& request) {
  const auto& [host, origin, site, mode, cookie, etag] = request.browser;
  if (!is_plain_host(host))
    return error_response(403, "this machine is not to be asked by that name: say localhost");
  const bool is_ours = origin.empty() || origin == "http://" + host || origin == "https://" + host;
  const bool from_elsewhere = site == "cross-site" || site == "same-site";
  // A link to the page is fine. Nobody can read more than that, but a capture costs as much unread.
  const bool is_link = request.method == "GET" && request.path == "/" && mode == "navigate";
  if (!is_ours || (from_elsewhere && !is_link))
    return error_response(403, "another page has sent this, and may not");
  return {};
}

std::string make_token() {
  std::array<unsigned char, token_octets> octets;
  if (::getentropy(octets.data(), octets.size()) != 0)
    return {};
  std::string token;
  for (const auto octet : octets)
    token += fmt::format("{:02x}", octet);
  return token;
}

bool is_same_secret(std::string_view given, std::string_view secret) noexcept {
  if (given.size() != secret.size())
    return false;
  volatile unsigned char difference = 0; // the compiler may not leave the loop early
  for (std::size_t i = 0; i < secret.size(); ++i)
    difference =
        static_cast<unsigned char>(difference | static_cast<unsigned char>(given[i] ^ secret[i]));
  return difference == 0;
}

token_guard::token_guard(std::string token, std::uint16_t port)
    : token_{std::move(token)}, cookie_{fmt::format("vmswitch_{}", port)} {}

std::optional<http_response> token_guard::refuse(const http_request& request) const {
  if (const auto given = request.query.find("token"); given != request.query.end()) {
    if (is_same_secret(given->second, token_))
      return {};
  } else if (is_same_secret(cookie_of(request.browser.cookie, cookie_), token_)) {
    return {};
  }
  constexpr auto text =
      "the token is missing, or of a daemon that has ended: take the whole address from the log "
      "of vmswitchd, or from vmswitchctl dashboard";
  if (request.path != "/")
    return error_response(401, text);
  return http_response{401, fmt::format("vmswitch: {}\n", text), "text/plain; charset=utf-8"};
}

std::optional<std::string> token_guard::cookie_for(const http_request& request) const {
  if (!request.query.contains("token"))
    return {};
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_, token_);
}

} // namespace vmswitch
