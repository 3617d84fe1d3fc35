#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/ctl/ctl_command.hpp"

namespace vmswitch {

/// What commands that show something have in common.
client_result<nlohmann::json> fetch(const ctl_context& context, std::string_view target);

/// "?a=b&c=d" of those that have a value; "" if none has.
std::string query_of(const std::vector<std::pair<std::string, std::string>>& parameters);

/// The body of a request. What is no UTF-8, which shells pass on, is replaced.
std::string body_of(const nlohmann::json& wanted);

/// Whether to show it again and again.
struct repetition {
  bool watch = false;
  double seconds = 1;
  void declare(CLI::App& command);
  /// Calls `show` once, or until it fails. On a terminal each picture replaces the last one.
  client_result<void> run(const ctl_context& context,
                          const std::function<client_result<std::string>()>& show) const;
};

} // namespace vmswitch
