#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "app/exit_code.hpp"

#include <tl/expected.hpp>

namespace vmswitch {

/// Why a call could not be made: what to tell the person, and how the program ends.
struct client_failure {
  exit_code code = exit_code::failed;
  std::string text;
};

template <class T>
using client_result = tl::expected<T, client_failure>;

/// A client of the control socket: each call is a connection of its own. Blocks.
class control_client {
public:
  explicit control_client(std::string socket,
                          std::chrono::milliseconds patience = std::chrono::seconds{10})
      : socket_{std::move(socket)}, patience_{patience} {}

  /// The body of a successful answer (2xx); the daemon's own words where it refuses.
  client_result<std::string> call(std::string_view method, std::string_view target,
                                  std::string_view body = {}) const;

  /// Hands over an endless answer piece by piece until it ends, or `take` returns false.
  /// `connected` learns the descriptor, which is open until this returns.
  client_result<void> stream(std::string_view target,
                             const std::function<bool(std::string_view)>& take,
                             const std::function<void(int fd)>& connected = {},
                             std::string_view method = "GET", std::string_view body = {}) const;

  const std::string& socket() const noexcept { return socket_; }

private:
  std::string socket_;
  std::chrono::milliseconds patience_;
};

/// A name as part of a target: everything but letters, digits, '-', '.', '_' and '~' is escaped.
std::string escaped(std::string_view text);

} // namespace vmswitch
