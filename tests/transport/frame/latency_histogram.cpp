#include "transport/frame/latency_histogram.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;
using namespace std::chrono_literals;

TEST_SUITE("latency_histogram") {

  TEST_CASE("a bucket's bound is part of it, and what is longer belongs to the next") {
    latency_histogram waited;
    waited.add(0ns, 1);
    waited.add(1us, 1);
    waited.add(1001ns, 1);
    waited.add(2us, 1);
    waited.add(1024us, 5);
    waited.add(1024us + 1ns, 7);
    CHECK(waited[0] == 2);
    CHECK(waited[1] == 2);
    CHECK(waited[10] == 5);
    CHECK(waited[11] == 7);
    CHECK(waited.total() == 16);
    CHECK(waited.sum_seconds() == doctest::Approx(12 * 1024e-6 + 4.001e-6));
  }

  TEST_CASE("what takes very long, or less than nothing, is counted too") {
    latency_histogram waited;
    waited.add(1h, 3);
    waited.add(-1s, 2);
    CHECK(waited[latency_histogram::buckets - 1] == 3);
    CHECK(waited[0] == 2);
  }

  TEST_CASE("histograms add up") {
    latency_histogram a, b;
    a.add(3us, 1);
    b.add(3us, 2);
    b.add(1s, 1);
    a += b;
    CHECK(a[2] == 3);
    CHECK(a.total() == 4);
  }

} // TEST_SUITE
