#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/error.hpp"

namespace vmswitch {

/// A TCP port that only this machine can reach.
struct loopback_endpoint {
  std::string address = "127.0.0.1"; // of 127.0.0.0/8, or ::1
  std::uint16_t port = 0;            // 0: the system chooses
  friend bool operator==(const loopback_endpoint&, const loopback_endpoint&) = default;
};

/// "127.0.0.1:8080", "[::1]:8080", "localhost:8080". The error says what to do for others.
result<loopback_endpoint> parse_loopback_endpoint(std::string_view text);

/// "127.0.0.1:8080", "[::1]:8080"
std::string to_string(const loopback_endpoint& endpoint);

} // namespace vmswitch
