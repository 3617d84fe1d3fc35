#include "app/ctl/ctl_views.hpp"

#include <doctest/doctest.h>

#include "app/control/json_views.hpp"
#include "app/control/service_views.hpp"
#include "app/ctl/drop_advice.hpp"
#include "app/ctl/text_table.hpp"
#include "tests/app/control/snapshots.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

nlohmann::json parsed(const nlohmann::ordered_json& value) {
  return nlohmann::json::parse(to_text(value));
}
nlohmann::json lab_ports() {
  return parsed(
      ports_json(lab_snapshot(), "", std::chrono::system_clock::time_point{1'700'000'090s}));
}
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_SUITE("text_table") {

  TEST_CASE("columns are as wide as they need to be, without spaces at the ends of lines") {
    text_table table{{{"A"}, {"NUMBER", text_table::align::right}, {"LAST"}}};
    table.add({"long cell", "7", ""});
    table.add({"\xc3\xbc", "12345678", "x"});
    CHECK(table.render(false) == "A            NUMBER  LAST\n"
                                 "long cell         7\n"
                                 "\xc3\xbc          12345678  x\n");
  }

  TEST_CASE("titles are bold in colour, and nothing of a VM's steers the terminal") {
    text_table table{{{"A"}}};
    table.add({"\x1b[31mred\n"});
    CHECK(table.render(true) == "\x1b[1mA\x1b[0m\n\\x1b[31mred\\n\n");
  }

  TEST_CASE("numbers and times are short") {
    CHECK(bytes_text(0) == "0 B");
    CHECK(bytes_text(1023) == "1023 B");
    CHECK(bytes_text(1536) == "1.50 KiB");
    CHECK(bytes_text(150.0 * 1024 * 1024) == "150 MiB");
    CHECK(short_number(950) == "950");
    CHECK(short_number(12345) == "12.3 k");
    CHECK(duration_text(59) == "59 s");
    CHECK(duration_text(3599) == "59 min");
    CHECK(duration_text(3600 * 25) == "1 d 1 h");
    CHECK(duration_text(3600 * 5 + 120) == "5 h 2 min");
  }

} // TEST_SUITE

TEST_SUITE("ctl views") {

  TEST_CASE("ports are shown with the address, traffic and the main reason of drops") {
    const auto text = ports_view(lab_ports(), false);
    CHECK(has(text, "PORT   NETWORK  STATE"));
    CHECK(has(text, "02:00:00:00:00:01 +19"));
    CHECK(has(text, "16 (egress_stalled, ...)"));
    CHECK(has(text, "1 (runt)"));
    CHECK(has(text, "pid 4711, uid 1000"));
    CHECK(has(text, "silent"));
  }

  TEST_CASE("a port's alias stands beside its name, and what it was set to beside its state") {
    auto seen = lab_snapshot();
    seen.networks[0].ports[1].brief.alias = "web";
    seen.networks[0].ports[1].brief.flags = {.isolated = true, .down = true};
    seen.networks[0].macs[0].alias = "web";
    const auto ports = parsed(ports_json(seen, "", {}));
    CHECK(has(ports_view(ports, false), "lab.1 (web)"));
    CHECK(has(ports_view(ports, false), "down, isolated"));
    CHECK(has(macs_view(parsed(macs_json(seen, "", "")), false), "lab.1 (web)"));
    CHECK(has(drops_view(parsed(networks_json(seen)), ports, false), "lab.1 (web)"));
  }

  TEST_CASE("drops are shown where they happened, with what they mean") {
    const auto text = drops_view(parsed(networks_json(lab_snapshot())), lab_ports(), false);
    CHECK(has(text, "lab.2"));
    CHECK(has(text, "the VM takes nothing: it is paused, or hangs"));
    CHECK(has(text, "/tmp/lab-dgram.sock"));
    CHECK(has(text, "(ports that have gone)"));
    CHECK(has(drops_view(nlohmann::json::object(), nlohmann::json::object(), false), "No frame"));
  }

  TEST_CASE("every drop reason has its advice") {
    for (std::size_t i = 0; i < drop_reason_count; ++i) {
      CAPTURE(i);
      CHECK_FALSE(drop_advice(to_string(static_cast<drop_reason>(i))).empty());
    }
    CHECK(drop_advice("of a later version").empty());
  }

  TEST_CASE("addresses, leases and networks are shown; names of VMs are made printable") {
    CHECK(has(macs_view(parsed(macs_json(lab_snapshot(), "", "")), false), "19 s ago"));
    const auto leases = leases_view(parsed(leases_json(lab_snapshot(), "")), false);
    CHECK(has(leases, "192.168.105.20"));
    CHECK(has(leases, "web\\x1b[31m"));
    CHECK(has(leases, "1 h 0 min"));
    const auto networks = networks_view(parsed(networks_json(lab_snapshot())), false);
    CHECK(has(networks, "192.168.105.0/24"));
    CHECK(has(networks, "/tmp/lab.sock /tmp/lab-dgram.sock"));
  }

  TEST_CASE("forwards and names are shown; a network that did not answer is named") {
    auto seen = lab_snapshot();
    const auto forwards = forwards_view(parsed(forwards_json(seen, "")), false);
    CHECK(has(forwards, "tcp 127.0.0.1:2222  web:22"));
    CHECK(has(forwards, "192.168.105.20     1         5  1000 B  2.00 KiB  configuration  lab"));
    CHECK(has(forwards, " -  live "));
    CHECK(
        has(dns_view(parsed(dns_json(seen, "")), false), "db.vm.internal   A     192.168.105.50"));
    seen.networks[0].services = {};
    CHECK(has(forwards_view(parsed(forwards_json(seen, "")), false), "No port of the host"));
    seen.networks[0].silent = {"host"};
    CHECK(has(forwards_view(parsed(forwards_json(seen, "")), false), "network lab did not answer"));
    CHECK(has(dns_view(parsed(dns_json(seen, "")), false), "network lab did not answer"));
  }

  TEST_CASE(
      "an answer of another shape, from a daemon of another version, is shown as far as it goes") {
    for (const char* text : {"{}", "[]", "null", R"({"ports":7})", R"({"ports":[1,null,{}]})",
                             R"({"ports":[{"macs":[3],"drops":{"x":"y"},"dropped":1}]})"}) {
      CAPTURE(text);
      const auto odd = nlohmann::json::parse(text);
      CHECK_FALSE(ports_view(odd, false).empty());
      CHECK_FALSE(networks_view(odd, false).empty());
      CHECK_FALSE(macs_view(odd, false).empty());
      CHECK_FALSE(forwards_view(odd, false).empty());
      CHECK_FALSE(dns_view(odd, false).empty());
      CHECK_FALSE(leases_view(odd, false).empty());
      CHECK_FALSE(status_view(odd, odd, false).empty());
      CHECK_FALSE(drops_view(odd, odd, false).empty());
    }
  }

} // TEST_SUITE
