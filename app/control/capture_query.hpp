#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "transport/error.hpp"

namespace vmswitch {

/// What GET /v1/capture asks for.
struct capture_query {
  std::string network;             // empty: the only one
  std::string port;                // empty: all
  std::string filter;              // not looked at yet
  std::uint32_t snaplen = 262'144; // bytes; also the most
  std::uint64_t count = 0;         // frames; 0: without end
  std::chrono::seconds duration{}; // 0: without end
};

/// Unknown parameters are errors: a filter that is misspelt would be everything. Pure.
result<capture_query>
parse_capture_query(const std::map<std::string, std::string, std::less<>>& parameters);

} // namespace vmswitch
