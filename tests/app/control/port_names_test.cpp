#include "app/control/port_names.hpp"

#include <doctest/doctest.h>

#include "tests/app/control/snapshots.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// Networks "lab" and "desk", in which lab.1 is "web", and the other lab.1 "lab.2", if it could be.
daemon_snapshot two_networks() {
  auto seen = lab_snapshot();
  seen.networks[0].ports[1].brief.alias = "web";
  seen.networks.push_back(seen.networks[0]);
  seen.networks[1].name = "desk";
  seen.networks[1].ports[1].brief.name = "desk.1";
  seen.networks[1].ports[1].brief.alias = "lab.2";
  return seen;
}

} // namespace

TEST_SUITE("port_names") {

  TEST_CASE("a port is found by its name and by its alias, and its own name comes first") {
    const auto seen = two_networks();
    const auto by_alias = ports_named(seen, "web", "");
    REQUIRE(by_alias.size() == 1);
    CHECK(by_alias[0].port->brief.name == "lab.1");
    CHECK(by_alias[0].network->name == "lab");
    const auto by_name = ports_named(seen, "lab.2", "lab");
    REQUIRE(by_name.size() == 1);
    CHECK(by_name[0].port->brief.id.slot == 2);
    CHECK(ports_named(seen, "desk.1", "").size() == 1);
  }

  TEST_CASE("the hosts of several networks have one name, unless one network is meant") {
    const auto seen = two_networks();
    CHECK(ports_named(seen, "host", "").size() == 2);
    CHECK(ports_named(seen, "host", "desk").size() == 1);
  }

  TEST_CASE("nothing has a name that is unknown, or none") {
    const auto seen = two_networks();
    CHECK(ports_named(seen, "lab.9", "").empty());
    CHECK(ports_named(seen, "web", "desk").empty());
    CHECK(ports_named(seen, "", "").empty());
  }

} // TEST_SUITE
