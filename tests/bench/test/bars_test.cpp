#include "tests/bench/suite/bars.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace vmswitch::bench;

namespace {

sample run_of(double headline, std::uint64_t lost = 0) {
  sample made;
  made.add("Gbit/s", headline, 2);
  made.add_fault("lost", lost);
  return made;
}

comparison_result result_of(std::string name, std::vector<outcome> outcomes) {
  return {std::move(name), "", std::move(outcomes)};
}

const bar* find(const std::vector<bar>& bars, const std::string& what) {
  const auto found =
      std::find_if(bars.begin(), bars.end(), [&](const bar& each) { return each.what == what; });
  return found == bars.end() ? nullptr : &*found;
}

} // namespace

TEST_SUITE("bench: results and bars") {
  TEST_CASE("a ratio is that of the same round, and its median is taken") {
    const auto result =
        result_of("full", {{"relay", false, {run_of(10), run_of(20), run_of(40)}, {}},
                           {"vmswitchd", true, {run_of(11), run_of(10), run_of(40)}, {}}});
    const auto ratio = result.ratio("vmswitchd");
    REQUIRE(ratio);
    CHECK(ratio->median == doctest::Approx(1.0));
    CHECK(ratio->least == doctest::Approx(0.5));
    CHECK(ratio->most == doctest::Approx(1.1));
  }

  TEST_CASE("who has failed has no ratio, and decides nothing") {
    const auto result = result_of("full", {{"relay", false, {run_of(10)}, {}},
                                           {"vmswitchd", true, {run_of(10)}, {}},
                                           {"flood", false, {}, "it hung up"}});
    CHECK_FALSE(result.ratio("flood"));
    const auto bars = judge({result});
    CHECK(find(bars, "1514 bytes, one pair: x best peer") == nullptr);
    REQUIRE(find(bars, "1514 bytes, one pair: x relay"));
    CHECK(find(bars, "1514 bytes, one pair: x relay")->value == doctest::Approx(1));
  }

  TEST_CASE("the best peer is the fastest that is neither the limit nor ours") {
    const auto full = result_of("full", {{"relay", false, {run_of(100)}, {}},
                                         {"vmswitchd", true, {run_of(80)}, {}},
                                         {"flood", false, {run_of(4)}, {}},
                                         {"vde", false, {run_of(8)}, {}}});
    const auto bars = judge({full});
    CHECK(find(bars, "1514 bytes, one pair: x best peer")->value == doctest::Approx(10));
    CHECK(find(bars, "1514 bytes, one pair: x best peer")->met());
    CHECK_FALSE(find(bars, "1514 bytes, one pair: x relay")->met());
    // In round trips the best is the shortest.
    auto loaded = full;
    loaded.name = "loaded";
    const auto of_loaded = judge({loaded});
    CHECK(find(of_loaded, "round trip p50 under load: x best peer")->value == doctest::Approx(20));
  }

  TEST_CASE("one lost frame of ours is seen, a peer's is not counted") {
    auto results = std::vector{result_of("full", {{"relay", false, {run_of(10)}, {}},
                                                  {"vmswitchd", true, {run_of(10)}, {}},
                                                  {"vde", false, {run_of(1, 50)}, {}}})};
    CHECK(judge(results).back().met());
    results[0].outcomes[1].runs[0] = run_of(10, 1);
    CHECK_FALSE(judge(results).back().met());
  }
}
