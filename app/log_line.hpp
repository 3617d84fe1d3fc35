#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace vmswitch {

// How a log line looks. Messages may hold bytes that a VM chose (names, addresses), so that both
// forms keep one event on one line, whatever is in it. Pure.

/// `2026-01-31T12:00:00.123Z info    message`, UTC, the message as printable() makes it.
std::string text_log_line(std::chrono::system_clock::time_point time, std::string_view level,
                          std::string_view message);

/// {"time":"2026-01-31T12:00:00.123Z","level":"info","message":"..."}: always valid JSON (RFC
/// 8259), with U+FFFD in place of what is not UTF-8.
std::string json_log_line(std::chrono::system_clock::time_point time, std::string_view level,
                          std::string_view message);

} // namespace vmswitch
