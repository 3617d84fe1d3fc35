#include "app/control/service_views.hpp"

#include <doctest/doctest.h>

#include "tests/app/control/snapshots.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

TEST_SUITE("service_views") {

  TEST_CASE("a forward tells where it listens and leads, its traffic, and whose it is") {
    const auto forwards = forwards_json(lab_snapshot(), "")["forwards"];
    REQUIRE(forwards.size() == 2);
    CHECK(forwards[0] == nlohmann::ordered_json::parse(R"({"network":"lab",
        "rule":"tcp 127.0.0.1:2222 -> web:22","protocol":"tcp","listen_address":"127.0.0.1",
        "listen_port":2222,"to":"web","to_port":22,"address":"192.168.105.20","open":1,
        "accepted":5,"refused":2,"bytes_to_vm":1000,"bytes_from_vm":2048,
        "origin":"configuration","added_by":null})"));
    CHECK(forwards[1]["address"].is_null()); // none yet
    CHECK(forwards[1]["open"].is_null());    // not counted
    CHECK(forwards[1]["bytes_from_vm"].is_null());
    CHECK(forwards[1]["origin"] == "live");
    CHECK(forwards[1]["added_by"] == "pid 4711, uid 1000");
  }

  TEST_CASE("names are sorted, with where they come from") {
    const auto records = dns_json(lab_snapshot(), "lab")["records"];
    REQUIRE(records.size() == 2);
    CHECK(records[0] == nlohmann::ordered_json::parse(R"({"network":"lab","name":"db.vm.internal",
        "type":"A","value":"192.168.105.50","origin":"configuration"})"));
    CHECK(records[1]["origin"] == "lease");
  }

  TEST_CASE("a network that did not answer is named, and is not one without forwards") {
    auto seen = lab_snapshot();
    CHECK(forwards_json(seen, "")["silent"].empty()); // the silent port of a VM has none
    for (const char* part : {"host", "network"}) {
      seen.networks[0].silent = {part};
      CHECK(forwards_json(seen, "")["silent"][0] == "lab");
      CHECK(dns_json(seen, "lab")["silent"][0] == "lab");
      CHECK(dns_json(seen, "other")["silent"].empty());
    }
    CHECK(forwards_json(seen, "other")["forwards"].empty());
  }

} // TEST_SUITE
