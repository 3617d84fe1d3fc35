#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/control/http_types.hpp"

namespace vmswitch {

/// What protects the API from pages of other people in a browser of this machine. Pure but for
/// make_token().
///
/// Theory of operation. A browser reaches the API where a TCP port leads to it: ours, or one of
/// ssh -L or socat in front of the Unix socket. Any page can have it send requests there, and one
/// whose name suddenly resolves to 127.0.0.1 (DNS rebinding) can read the answers. So the name in
/// the address must be one that no resolver of others answers for, and where a browser says which
/// page asks, that must be ours: from elsewhere a link may lead to the page, and to nothing else.
/// Our own port also wants a token, since any user of the machine can
/// connect to it.

/// Whether "Host" names this machine: an address, "localhost", or another name without a dot; with
/// or without a port. None is fine: it is no browser.
bool is_plain_host(std::string_view host) noexcept;

/// What to say to a request that another page has caused, or that has another host in mind.
std::optional<http_response> refuse_foreign(const http_request& request);

/// 128 random bits as 32 hexadecimal digits; "" if the system has none to give.
std::string make_token();

/// Takes the same time for any two secrets of the same length.
bool is_same_secret(std::string_view given, std::string_view secret) noexcept;

/// Lets in who knows the token. It comes as the parameter "token", whereupon the browser is given a
/// cookie, and comes back with that.
class token_guard {
public:
  /// Cookies do not tell ports apart: `port` makes the name one of its own.
  token_guard(std::string token, std::uint16_t port);

  /// What to say to who does not have it.
  std::optional<http_response> refuse(const http_request& request) const;
  /// "Set-Cookie", for who has sent the token as a parameter.
  std::optional<std::string> cookie_for(const http_request& request) const;

  const std::string& token() const noexcept { return token_; }

private:
  std::string token_;
  std::string cookie_;
};

} // namespace vmswitch
