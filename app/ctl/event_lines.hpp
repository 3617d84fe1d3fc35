#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace vmswitch {

/// Takes server-sent events (HTML standard, 9.2) apart, however they are cut into pieces. Only the
/// data is of interest: one JSON object each. Pure.
class event_lines {
public:
  /// Calls `take(data)` for each event that is whole now.
  void feed(std::string_view piece, const std::function<void(std::string_view)>& take);

private:
  std::string line_; // the begin of one
  std::string data_;
};

/// One event for people: "12:00:00  port_up  lab  port lab.1 up: pid 4711, uid 0". Times are UTC.
std::string event_view(std::string_view json, bool colour);

} // namespace vmswitch
