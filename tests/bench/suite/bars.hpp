#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/bench/report/comparison.hpp"

namespace vmswitch::bench {

/// One thing that vmswitch wants to reach, and whether it has.
struct bar {
  std::string what;
  double value = 0;
  bool at_least = true; // or: at most
  double wanted = 0;
  bool met() const noexcept { return at_least ? value >= wanted : value <= wanted; }
};

/// Judges what can be judged of `results`, the suite's. Pure.
std::vector<bar> judge(const std::vector<comparison_result>& results);

} // namespace vmswitch::bench
