#include "tests/bench/suite/bars.hpp"

#include <algorithm>

namespace vmswitch::bench {

namespace {

constexpr auto ours = "vmswitchd";

class judge_of_results {
public:
  explicit judge_of_results(const std::vector<comparison_result>& results) : results_{results} {}

  const comparison_result* find(const std::string& name) const {
    const auto found = std::find_if(results_.begin(), results_.end(),
                                    [&](const auto& each) { return each.name == name; });
    return found == results_.end() ? nullptr : &*found;
  }

  // The headline of `entry` against `base`, round by round.
  void ratio(const std::string& what, const std::string& comparison, bool at_least, double wanted,
             const std::string& entry = ours, const std::string& base = {}) {
    const auto* result = find(comparison);
    if (const auto value = result ? result->ratio(entry, base) : std::nullopt)
      bars.push_back({what, value->median, at_least, wanted});
  }

  // Two metrics, each folded over the rounds.
  void metrics(const std::string& what, const std::string& comparison, const std::string& metric,
               double most, const std::string& entry = ours) {
    const auto* result = find(comparison);
    const auto value = result ? metric_of(*result, entry, metric) : std::nullopt;
    const auto base =
        result ? metric_of(*result, result->outcomes.front().name, metric) : std::nullopt;
    if (value && base && *base > 0)
      bars.push_back({what, *value / *base, false, most});
  }

  void value(const std::string& what, const std::string& comparison, const std::string& entry,
             const std::string& metric, double most) {
    const auto* result = find(comparison);
    if (const auto found = result ? metric_of(*result, entry, metric) : std::nullopt)
      bars.push_back({what, *found, false, most});
  }

  // Against the best of those that are neither the limit nor ours.
  void best_peer(const std::string& what, const std::string& comparison, bool higher_is_better,
                 double wanted) {
    const auto* result = find(comparison);
    const auto own = result ? result->headline(ours) : std::nullopt;
    if (!own)
      return;
    std::optional<double> best;
    for (const outcome& each : result->outcomes) {
      const bool is_peer = !each.ours && each.name != result->outcomes.front().name;
      const auto figure = is_peer ? result->headline(each.name) : std::nullopt;
      if (figure && (!best || (figure->median > *best) == higher_is_better))
        best = figure->median;
    }
    if (best && *best > 0)
      bars.push_back({what, own->median / *best, higher_is_better, wanted});
  }

  std::uint64_t faults() const {
    std::uint64_t sum = 0;
    for (const auto& result : results_)
      for (const outcome& each : result.outcomes)
        sum += each.ours ? each.faults() : 0;
    return sum;
  }

  std::vector<bar> bars;

private:
  static std::optional<double> metric_of(const comparison_result& result, const std::string& entry,
                                         const std::string& metric) {
    const outcome* self = result.find(entry);
    return self && !self->runs.empty() ? folded(self->runs, metric) : std::nullopt;
  }

  const std::vector<comparison_result>& results_;
};

} // namespace

std::vector<bar> judge(const std::vector<comparison_result>& results) {
  judge_of_results about{results};
  about.ratio("1514 bytes, one pair: x relay", "full", true, 1.05);
  about.best_peer("1514 bytes, one pair: x best peer", "full", true, 10);
  about.ratio("64 bytes: x relay", "small", true, 0.9);
  about.best_peer("64 bytes: x best peer", "small", true, 50);
  about.ratio("IMIX: x relay", "imix", true, 1.0);
  about.ratio("one frame per write: x relay", "single", true, 0.95);
  about.best_peer("one frame per write: x best peer", "single", true, 1.7);
  about.ratio("both directions: x relay", "both", true, 1.0);
  about.ratio("3 idle ports beside: x without", "neighbours", true, 0.97, "vmswitchd +3 idle");
  about.ratio("30 idle ports beside: x without", "neighbours", true, 0.97, "vmswitchd +30 idle");
  about.ratio("a stuck port beside: x without", "neighbours", true, 0.95, "vmswitchd +1 stuck");
  about.ratio("top and metrics beside: x without", "watched", true, 0.98, "vmswitchd-watched");
  about.ratio("a capture of all beside that: x without", "watched", true, 0.9,
              "vmswitchd-captured");
  about.ratio("round trip p50: x relay", "latency", false, 1.2);
  about.metrics("round trip p99: x relay", "latency", "p99 us", 1.5);
  about.best_peer("round trip p50 under load: x best peer", "loaded", false, 1.0);
  about.metrics("CPU for a GB of 1514 bytes: x relay", "full", "cpu s/GB", 1.1);
  about.ratio("CPU for a frame, 1000 ports: x 2 ports", "scale", false, 1.2,
              "vmswitchd 1000 ports");
  about.ratio("datagrams, one pair: x datagram relay", "datagrams", true, 0.9, "vmswitchd-dgram");
  about.value("MiB with 1000 idle ports", "idle", "vmswitchd 1000 ports", "MiB", 12 + 1000.0 / 16);
  about.value("KiB for an idle port", "idle", "vmswitchd 1000 ports", "KiB/port", 64);
  about.value("MiB after a load", "full", ours, "MiB after", 12);
  about.bars.push_back({"frames lost, reordered, doubled, flooded in all of it",
                        static_cast<double>(about.faults()), false, 0});
  return about.bars;
}

} // namespace vmswitch::bench
