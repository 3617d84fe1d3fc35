#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tests/bench/contenders/contender.hpp"
#include "tests/bench/report/sample.hpp"
#include "tests/bench/work/workload.hpp"

namespace vmswitch::bench {

/// Switches, or one switch under several loads, measured in turn: so noise of the machine hits all
/// of them, and a ratio within one round means something.
struct comparison {
  struct entry {
    std::string name;
    contender who;
    workload work;
  };
  std::string name;  // a word
  std::string title; // "1514 bytes, 64 KiB per write, 1 pair"
  measure how;
  std::vector<entry> entries; // the first is what the others are compared with
};

/// What the runs of one entry have shown.
struct outcome {
  std::string name;
  bool ours = false;
  std::vector<sample> runs; // one a round; empty if `failure`
  std::string failure;      // why there is nothing to tell

  std::uint64_t faults() const;
};

struct comparison_result {
  std::string name;
  std::string title;
  std::vector<outcome> outcomes;

  const outcome* find(const std::string& entry) const;
  /// The headline of an entry, and its ratio to that of `base` round by round (base empty: the
  /// first entry); nothing if one of the two has failed.
  std::optional<spread> headline(const std::string& entry) const;
  std::optional<spread> ratio(const std::string& entry, const std::string& base = {}) const;
};

/// Runs every entry `rounds` times in turn, each in a fresh process.
comparison_result run(const comparison& what, int rounds);

/// A table for people: medians, spread, ratios, and every other metric.
std::string to_text(const comparison_result& result);
/// The same for Markdown.
std::string to_markdown(const comparison_result& result);
nlohmann::json to_json(const comparison_result& result);

} // namespace vmswitch::bench
