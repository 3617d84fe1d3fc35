#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "app/config_report.hpp"

namespace vmswitch {

struct toml_document {
  toml::table root;
  /// False if the text could not be parsed even in part; `root` is empty then.
  bool usable = true;

  /// True if the key with the dotted name `name`, missing in the table that begins in `line`, may
  /// stand in one of the lines that a syntax error took away.
  bool may_have_lost(std::string_view name, std::size_t line) const;

  struct lost_line {
    std::size_t line = 0;
    std::string key; // its dotted name; empty if it cannot be told
  };
  std::vector<lost_line> lost;
};

/// Parses `text`, reporting every syntax error and not only the first one.
///
/// Theory of operation. The parser stops at the first mistake, yet people want to hear of all. A
/// mistake that lies within one "key = value" line is reported, the line is emptied (so that all
/// positions stay right), and the rest is parsed again. Where that would only produce nonsense (a
/// broken table header, a bracket or string that was never closed) the error says that the rest was
/// not looked at. At most `max_syntax_errors` rounds, over at most `max_config_size` bytes.
toml_document parse_toml(std::string_view text, config_report& report);

inline constexpr std::size_t max_config_size = 1024 * 1024;
inline constexpr std::size_t max_syntax_errors = 20;

} // namespace vmswitch
