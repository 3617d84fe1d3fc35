#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tests/bench/vm/sequence_check.hpp"

namespace vmswitch::bench {

/// One figure of a run, and how those of several runs become one.
struct metric {
  enum class fold : std::uint8_t { median, sum, most };
  std::string name; // with its unit: "Gbit/s"
  double value = 0;
  int decimals = 0;
  fold of_runs = fold::median;
};

/// What one run of one switch has shown. The first metric is what the switches are compared by.
struct sample {
  std::vector<metric> metrics;
  std::uint64_t faults = 0; // frames lost, doubled, out of order, or at the wrong place

  void add(std::string name, double value, int decimals,
           metric::fold of_runs = metric::fold::median) {
    metrics.push_back({std::move(name), value, decimals, of_runs});
  }
  /// A counter of frames that went astray.
  void add_fault(std::string name, std::uint64_t frames);
};

struct spread {
  double median = 0;
  double least = 0;
  double most = 0;
};
/// @pre values is not empty
spread spread_of(std::vector<double> values);

/// Of a metric in several runs, folded; nothing if a run lacks it.
std::optional<double> folded(const std::vector<sample>& runs, const std::string& name);

nlohmann::json to_json(const spread& values);
nlohmann::json to_json(const sample& run);

} // namespace vmswitch::bench
