#include "vmnet/forward/flow_table.hpp"

#include <chrono>
#include <string>

#include <doctest/doctest.h>

using namespace vmswitch;
using namespace std::chrono_literals;

TEST_SUITE("flow table") {

  TEST_CASE("lima#3152: a flow stays open as long as it is used, and for its time after that") {
    flow_table<int, std::string> flows{300s};
    auto now = std::chrono::steady_clock::time_point{} + 1h;
    flows.add(1, "a", now);
    for (int i = 0; i < 1000; ++i) {
      now += 299s;
      CHECK_FALSE(flows.take_ended(now));
      REQUIRE(flows.use(1, now) != nullptr);
    }
    CHECK(flows.next_end() == now + 300s);
    CHECK_FALSE(flows.take_ended(now + 300s - 1ns));
    CHECK(flows.take_ended(now + 300s) == "a");
    CHECK(flows.use(1, now) == nullptr);
    CHECK_FALSE(flows.next_end());
  }

  TEST_CASE("the one that has been silent for longest goes first") {
    flow_table<int, std::string> flows{300s};
    const auto begin = std::chrono::steady_clock::time_point{} + 1h;
    flows.add(1, "a", begin);
    flows.add(2, "b", begin + 1s);
    flows.add(3, "c", begin + 2s);
    CHECK(*flows.use(1, begin + 3s) == "a");
    CHECK_FALSE(flows.take_silent(60s, begin + 60s));
    CHECK(flows.take_silent(60s, begin + 61s) == "b");
    CHECK(flows.take_silent({}, begin + 61s) == "c");
    CHECK(flows.take_silent({}, begin + 61s) == "a");
    CHECK(flows.size() == 0);
  }

} // TEST_SUITE
