#include "tests/bench/report/sample.hpp"

#include <algorithm>
#include <numeric>

#include <nlohmann/json.hpp>

namespace vmswitch::bench {

void sample::add_fault(std::string name, std::uint64_t frames) {
  faults += frames;
  add(std::move(name), static_cast<double>(frames), 0, metric::fold::sum);
}

spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

std::optional<double> folded(const std::vector<sample>& runs, const std::string& name) {
  std::vector<double> values;
  auto fold = metric::fold::median;
  for (const sample& run : runs)
    for (const metric& each : run.metrics)
      if (each.name == name) {
        values.push_back(each.value);
        fold = each.of_runs;
      }
  if (values.empty() || values.size() < runs.size())
    return std::nullopt;
  switch (fold) {
  case metric::fold::sum:
    return std::accumulate(values.begin(), values.end(), 0.0);
  case metric::fold::most:
    return *std::max_element(values.begin(), values.end());
  case metric::fold::median:
    break;
  }
  return spread_of(std::move(values)).median;
}

nlohmann::json to_json(const spread& values) {
  return {{"median", values.median}, {"min", values.least}, {"max", values.most}};
}

nlohmann::json to_json(const sample& run) {
  auto json = nlohmann::json::object();
  for (const metric& each : run.metrics)
    json[each.name] = each.value;
  return json;
}

} // namespace vmswitch::bench
