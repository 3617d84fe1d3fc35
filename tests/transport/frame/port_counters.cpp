#include "transport/frame/port_counters.hpp"

#include <set>

#include <doctest/doctest.h>

using namespace vmswitch;

TEST_SUITE("port_counters") {

  TEST_CASE("every reason has a name of its own") {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < drop_reason_count; ++i)
      names.insert(to_string(static_cast<drop_reason>(i)));
    CHECK(names.size() == drop_reason_count);
    CHECK(names.count("unknown") == 0);
  }

  TEST_CASE("drops are counted apart, added up, and summed") {
    drop_counters a;
    a.add(drop_reason::runt, 2);
    a.add(drop_reason::runt, 1);
    a.add(drop_reason::host_refused, 5);
    drop_counters b;
    b.add(drop_reason::runt, 10);
    b += a;
    CHECK(b[drop_reason::runt] == 13);
    CHECK(b[drop_reason::host_refused] == 5);
    CHECK(b[drop_reason::oversize] == 0);
    CHECK(b.total() == 18);
  }

} // TEST_SUITE
