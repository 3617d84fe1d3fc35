#pragma once

#include <string>

#include "tests/bench/contenders/contender.hpp"

namespace vmswitch::bench {

struct suite_options {
  std::string folder; // for results.md, results.json and plots
  bool full = false;
};

/// Runs everything that README shows, prints each table as it is ready, judges the results, and
/// writes them into a folder. Returns the exit code of the program; a missed bar is no failure.
int run_suite(const suite_options& options, const contender_options& switches);

} // namespace vmswitch::bench
