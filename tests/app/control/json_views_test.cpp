#include "app/control/json_views.hpp"

#include <doctest/doctest.h>

#include "tests/app/control/snapshots.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

const auto now = std::chrono::system_clock::time_point{1'700'000'090s};

} // namespace

TEST_SUITE("json_views") {

  TEST_CASE("a network's sums include ports that have gone, its switch and its listeners") {
    const auto network = networks_json(lab_snapshot())["networks"][0];
    CHECK(network["frames_in"] == 115);
    CHECK(network["bytes_out"] == 22600);
    CHECK(network["drops"] == nlohmann::ordered_json::parse(R"({"runt":1,"unknown_port":4,
        "egress_expired":7,"egress_stalled":9,"no_return_address":2,"port_closed":3})"));
    CHECK(network["dropped"] == 26);
    CHECK(network["ports"] == 3); // VMs, not the host
    CHECK(network["silent"] == nlohmann::ordered_json{"lab.3"});
    CHECK(network["listeners"][1]["type"] == "dgram");
    CHECK(network["listeners"][1]["drops"]["no_return_address"] == 2);
  }

  TEST_CASE("a port tells its state, its process, its queue and its first addresses") {
    const auto ports = ports_json(lab_snapshot(), "", now)["ports"];
    REQUIRE(ports.size() == 4);
    CHECK(ports[0]["kind"] == "host");
    CHECK(ports[0]["listener"].is_null());
    CHECK(ports[0]["pid"].is_null());
    CHECK(ports[1]["name"] == "lab.1");
    CHECK(ports[1]["state"] == "up");
    CHECK(ports[1]["pid"] == 4711);
    CHECK(ports[1]["uid"] == 1000);
    CHECK(ports[1]["since"] == "2023-11-14T22:13:20Z");
    CHECK(ports[1]["age_seconds"] == 90);
    CHECK(ports[1]["macs"].size() == macs_of_a_port);
    CHECK(ports[1]["macs"][0] == "02:00:00:00:00:01");
    CHECK(ports[1]["mac_count"] == 20);
    CHECK(ports[2]["state"] == "stalled");
    CHECK(ports[2]["queue"]["frames"] == 12);
    CHECK(ports[2]["queue"]["oldest_ms"] == 49.0);
    CHECK(ports[3]["state"] == "silent");
  }

  TEST_CASE("a port tells its alias and what it was set to") {
    auto seen = lab_snapshot();
    auto& brief = seen.networks[0].ports[1].brief;
    brief.alias = "web";
    brief.flags = {.isolated = true, .down = true};
    seen.networks[0].macs[0].alias = "web";
    const auto ports = ports_json(seen, "", now)["ports"];
    CHECK(ports[1]["alias"] == "web");
    CHECK(ports[1]["state"] == "down");
    CHECK(ports[1]["up"] == false);
    CHECK(ports[1]["isolated"] == true);
    CHECK(ports[2]["alias"].is_null());
    CHECK(ports[2]["up"] == true);
    CHECK(ports[2]["isolated"] == false);
    CHECK(macs_json(seen, "", "web")["macs"].size() == 1);
  }

  TEST_CASE("one port looks as it does among all") {
    const auto seen = lab_snapshot();
    const auto ports = ports_json(seen, "", now)["ports"];
    for (std::size_t i = 0; i < ports.size(); ++i)
      CHECK(port_json(seen.networks[0], seen.networks[0].ports[i], now) == ports[i]);
  }

  TEST_CASE("addresses are sorted, and one that was read twice is told once, the younger") {
    const auto macs = macs_json(lab_snapshot(), "", "")["macs"];
    REQUIRE(macs.size() == 21);
    CHECK(macs[0]["mac"] == "02:00:00:00:00:01");
    CHECK(macs[0]["age_seconds"] == 19);
    CHECK(macs[20]["port"].is_null());
    CHECK(macs_json(lab_snapshot(), "", "lab.1")["macs"].size() == 20);
  }

  TEST_CASE("lists can be cut to one network") {
    CHECK(ports_json(lab_snapshot(), "lab", now)["ports"].size() == 4);
    CHECK(ports_json(lab_snapshot(), "other", now)["ports"].empty());
    CHECK(macs_json(lab_snapshot(), "other", "")["macs"].empty());
    CHECK(leases_json(lab_snapshot(), "other")["leases"].empty());
  }

  TEST_CASE("a lease tells whose it is and for how long") {
    const auto lease = leases_json(lab_snapshot(), "")["leases"][0];
    CHECK(lease["address"] == "192.168.105.20");
    CHECK(lease["state"] == "bound");
    CHECK(lease["seconds_left"] == 3600);
  }

  TEST_CASE("bytes that are not UTF-8, which a VM may have chosen, leave valid JSON") {
    auto seen = lab_snapshot();
    seen.networks[0].services.leases[0].name = "a\xff\"\n";
    const auto text = to_text(leases_json(seen, ""));
    CHECK(nlohmann::json::accept(text));
    CHECK(text.find('\n') == text.size() - 1);
  }

} // TEST_SUITE
