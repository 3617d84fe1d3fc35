#include "actors/inspect/collection.hpp"

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr inspection_scope all{.ports = true, .macs = true, .services = true};

port_snapshot brief_of(port_id id, const std::string& name) {
  port_snapshot port;
  port.brief.id = id;
  port.brief.name = name;
  port.brief.listener = name == "host" ? "" : "/tmp/vm.sock";
  return port;
}

network_report network_of(std::uint64_t ticket, std::vector<port_snapshot> ports) {
  network_report report;
  report.about = {ticket, 0, 0};
  report.self.name = "lab";
  report.self.ports = std::move(ports);
  report.asked_switch = true;
  return report;
}

counters_report counters_of(std::uint64_t ticket, port_id id, std::uint64_t frames) {
  counters_report report;
  report.about = {ticket, 0, 0};
  report.id = id;
  report.counters.frames_in = frames;
  return report;
}

switch_report switch_of(std::uint64_t ticket) {
  switch_report report;
  report.about = {ticket, 0, 0};
  return report;
}

} // namespace

TEST_SUITE("collection") {

  TEST_CASE("a picture is complete when every part that was asked has answered, in any order") {
    collection c{7, all, {"lab"}};
    c.add(counters_of(7, {1, 1}, 10));
    CHECK_FALSE(c.complete());
    c.add(network_of(7, {brief_of({0, 0}, "host"), brief_of({1, 1}, "lab.1")}));
    CHECK_FALSE(c.complete());
    c.add(switch_of(7));
    CHECK_FALSE(c.complete());
    c.add(counters_of(7, {0, 0}, 3));
    CHECK(c.complete());
    const auto seen = c.take();
    REQUIRE(seen.networks.size() == 1);
    CHECK(seen.networks[0].totals().frames_in == 13);
    CHECK(seen.networks[0].silent.empty());
    CHECK(seen.networks[0].ports[1].answered);
  }

  TEST_CASE("who does not answer is named, and what is known of it is shown") {
    collection c{1, all, {"lab", "other"}};
    c.add(network_of(1, {brief_of({0, 0}, "host"), brief_of({1, 1}, "lab.1")}));
    c.add(counters_of(1, {0, 0}, 3));
    const auto seen = c.take();
    REQUIRE(seen.networks.size() == 2);
    CHECK(seen.networks[0].silent == std::vector<std::string>{"lab.1", "switch"});
    CHECK(seen.networks[0].ports[1].brief.name == "lab.1");
    CHECK_FALSE(seen.networks[0].ports[1].answered);
    CHECK(seen.networks[1].name == "other");
    CHECK(seen.networks[1].silent == std::vector<std::string>{"network"});
  }

  TEST_CASE("answers to another question, second ones and foreign places change nothing") {
    collection c{2, all, {"lab"}};
    c.add(network_of(1, {brief_of({9, 9}, "old")}));
    c.add(network_of(2, {brief_of({1, 1}, "lab.1")}));
    c.add(network_of(2, {brief_of({5, 1}, "lab.5")}));
    c.add(counters_of(1, {1, 1}, 100));
    c.add(counters_of(2, {1, 1}, 5));
    c.add(counters_of(2, {1, 1}, 100));
    c.add(counters_of(2, {3, 1}, 100));
    auto stray = switch_of(2);
    stray.about.network = 4;
    c.add(stray);
    CHECK_FALSE(c.complete());
    c.add(switch_of(2));
    CHECK(c.complete());
    CHECK(c.take().networks[0].totals().frames_in == 5);
  }

  TEST_CASE("a port that ends meanwhile is counted once, among those that have gone") {
    for (const bool has_answered : {false, true}) {
      CAPTURE(has_answered);
      collection c{3, all, {"lab"}};
      if (has_answered)
        c.add(counters_of(3, {1, 1}, 5));
      auto network = network_of(3, {brief_of({1, 1}, "lab.1"), brief_of({2, 1}, "lab.2")});
      network.self.gone.frames_in = 100;
      c.add(network);
      c.add(switch_of(3));
      c.add(counters_of(3, {2, 1}, 1));
      port_gone gone{{3, 0, 0}, {1, 1}, {}, {}};
      gone.counters.frames_in = 8;
      c.add(gone);
      CHECK(c.complete());
      const auto seen = c.take();
      CHECK(seen.networks[0].ports.size() == 1);
      CHECK(seen.networks[0].gone.frames_in == 108);
      CHECK(seen.networks[0].totals().frames_in == 109);
    }
  }

  TEST_CASE("a port's picture has what the switch knows of it; drops of others go to the network") {
    collection c{4, all, {"lab"}};
    c.add(network_of(4, {brief_of({1, 2}, "lab.1")}));
    c.add(counters_of(4, {1, 2}, 1));
    auto told = switch_of(4);
    told.gone.add(drop_reason::unknown_port, 1);
    told.ports = {{{1, 2}, {}, 2}, {{1, 1}, {}, 9}};
    told.ports[0].drops.add(drop_reason::group_source, 4);
    told.ports[1].drops.add(drop_reason::same_port, 2);
    told.macs = {{vm_mac(1), 1, 0, {}}, {vm_mac(2), 6, 0, {}}};
    c.add(told);
    const auto seen = c.take().networks[0];
    CHECK(seen.ports[0].macs == 2);
    CHECK(seen.ports[0].counters.drops[drop_reason::group_source] == 4);
    CHECK(seen.ports[0].counters.drops[drop_reason::same_port] == 0);
    CHECK(seen.totals().drops.total() == 7);
    CHECK(seen.macs[0].port == "lab.1");
    CHECK(seen.macs[1].port.empty());
  }

  TEST_CASE("only the host is waited for when services are asked for") {
    collection c{5, {.services = true}, {"lab"}};
    auto network = network_of(5, {brief_of({0, 0}, "host"), brief_of({1, 1}, "lab.1")});
    network.asked_switch = false;
    c.add(network);
    CHECK_FALSE(c.complete());
    auto host = counters_of(5, {0, 0}, 0);
    host.services.leases.push_back({});
    c.add(host);
    CHECK(c.complete());
    CHECK(c.take().networks[0].services.leases.size() == 1);
  }

  TEST_CASE("a daemon without networks is complete at once") {
    CHECK(collection{1, all, {}}.complete());
  }

} // TEST_SUITE
