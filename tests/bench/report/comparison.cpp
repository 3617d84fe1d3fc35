#include "tests/bench/report/comparison.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace vmswitch::bench {

namespace {

// Of the rounds in which both have run.
std::vector<double> headlines(const outcome& self) {
  std::vector<double> all;
  for (const sample& run : self.runs)
    all.push_back(run.metrics.front().value);
  return all;
}

void run_once(const comparison& what, const comparison::entry& self, outcome& out) {
  if (!out.failure.empty())
    return;
  auto report = [&]() -> result<sample> {
    auto tested = self.who.start(self.work.vms());
    if (!tested)
      return tl::unexpected{tested.error()};
    return what.how(**tested, self.work);
  }();
  if (report) {
    out.runs.push_back(std::move(*report));
  } else {
    out.failure = report.error().text;
    out.runs.clear();
  }
}

} // namespace

std::uint64_t outcome::faults() const {
  std::uint64_t sum = 0;
  for (const sample& run : runs)
    sum += run.faults;
  return sum;
}

const outcome* comparison_result::find(const std::string& entry) const {
  const auto found = std::find_if(outcomes.begin(), outcomes.end(),
                                  [&](const outcome& each) { return each.name == entry; });
  return found == outcomes.end() ? nullptr : &*found;
}

std::optional<spread> comparison_result::headline(const std::string& entry) const {
  const outcome* self = find(entry);
  if (!self || self->runs.empty())
    return std::nullopt;
  return spread_of(headlines(*self));
}

std::optional<spread> comparison_result::ratio(const std::string& entry,
                                               const std::string& base) const {
  const outcome* self = find(entry);
  const outcome* other = base.empty() ? &outcomes.front() : find(base);
  if (!self || !other || self->runs.empty() || self->runs.size() != other->runs.size())
    return std::nullopt;
  auto ratios = headlines(*self);
  const auto against = headlines(*other);
  for (std::size_t i = 0; i < ratios.size(); ++i)
    ratios[i] = against[i] > 0 ? ratios[i] / against[i] : 0;
  return spread_of(std::move(ratios));
}

comparison_result run(const comparison& what, int rounds) {
  comparison_result result{what.name, what.title, {}};
  for (const auto& each : what.entries)
    result.outcomes.push_back({each.name, each.who.ours, {}, {}});
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < what.entries.size(); ++i)
      run_once(what, what.entries[i], result.outcomes[i]);
  return result;
}

nlohmann::json to_json(const comparison_result& result) {
  nlohmann::json json{
      {"name", result.name}, {"title", result.title}, {"entries", nlohmann::json::array()}};
  for (const outcome& each : result.outcomes) {
    nlohmann::json entry{{"name", each.name}, {"rounds", nlohmann::json::array()}};
    if (const auto headline = result.headline(each.name)) {
      entry["metric"] = each.runs.front().metrics.front().name;
      entry["value"] = to_json(*headline);
    }
    if (const auto ratio = result.ratio(each.name))
      entry["ratio"] = to_json(*ratio);
    if (!each.failure.empty())
      entry["failure"] = each.failure;
    for (const sample& run : each.runs)
      entry["rounds"].push_back(to_json(run));
    json["entries"].push_back(std::move(entry));
  }
  return json;
}

} // namespace vmswitch::bench
