#include "vmnet/forward/forward_table.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/vmnet/dhcp/dhcp_bench.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;
using strings = std::vector<std::string>;

template <>
struct doctest::StringMaker<strings> {
  static doctest::String convert(const strings& all) {
    std::string text;
    for (const auto& one : all)
      text += one + "\n";
    return text.c_str();
  }
};

namespace {

/// Writes down what it is asked for.
class scripted_carrier final : public forward_carrier {
public:
  result<void> open(const forward_rule& rule) override {
    log.push_back("open " + to_string(rule.listen));
    return refuses_open ? result<void>{fail("taken", EADDRINUSE)} : result<void>{};
  }
  result<void> aim(const forward_listen& which, std::optional<ip_address> address) override {
    log.push_back("aim " + to_string(which) + " " + (address ? to_string(*address) : "nowhere"));
    return refuses_aim ? result<void>{fail("no more descriptors", EMFILE)} : result<void>{};
  }
  void close(const forward_listen& which, std::function<void()> closed) override {
    log.push_back("close " + to_string(which));
    closed();
  }
  std::optional<forward_traffic> traffic(const forward_listen&) const override { return {}; }

  strings log;
  bool refuses_open = false;
  bool refuses_aim = false;
};

/// A table whose leases a DHCP server gives, and VMs that ask it.
struct fixture : dhcp_bench {
  explicit fixture(const dhcp_config& wanted = {})
      : dhcp_bench{wanted}, table{
                                carrier, vm_lookup{wanted.reservations, &server.leases()},
                                [this](const service_note& note) { notes.push_back(note.text); }} {}
  void add(std::string_view text) {
    const auto rules = parse_forward(text).value();
    for (const auto& rule : rules)
      REQUIRE(table.add(rule));
  }
  /// What the table asks of the carrier when the VM leases this address.
  strings leases(std::uint64_t n, const char* address, const std::string& name = {}) {
    return after({dhcp_event::what::leased, vm(n), ip(address), name},
                 [&](auto& leases_now) { leases_now.bind(vm(n), ip(address), name, now += 1s); });
  }
  strings gives_back(std::uint64_t n, const char* address) {
    return after({dhcp_event::what::released, vm(n), ip(address), {}},
                 [&](auto& leases_now) { leases_now.release(vm(n), ip(address), now += 1s); });
  }
  template <class Change>
  strings after(const dhcp_event& what, Change&& change) {
    carrier.log.clear();
    change(server.leases());
    table.follow(&what);
    return carrier.log;
  }

  lease_table::time_point now = lease_table::time_point{} + 1h;
  scripted_carrier carrier;
  strings notes;
  forward_table table;
};

dhcp_config with_reservation(const char* name, std::uint64_t n, const char* address = nullptr) {
  dhcp_config config;
  config.reservations = {
      {vm(n), address != nullptr ? std::optional{ip(address)} : std::nullopt, name}};
  return config;
}

} // namespace

TEST_SUITE("forward table") {

  TEST_CASE("a forward to an address leads there at once") {
    fixture f;
    f.add("2222 -> 192.168.105.9:22");
    CHECK(f.carrier.log ==
          strings{"open tcp 127.0.0.1:2222", "aim tcp 127.0.0.1:2222 192.168.105.9"});
    CHECK(f.leases(1, "192.168.105.9").empty());
  }

  TEST_CASE("gtv#303: a forward waits for its VM's lease, and follows it to another address") {
    fixture f;
    f.add("2222 -> 52:54:00:00:00:01:22");
    CHECK(f.carrier.log == strings{"open tcp 127.0.0.1:2222"});
    CHECK(f.notes.back() ==
          "tcp 127.0.0.1:2222 -> 52:54:00:00:00:01:22 waits for the VM to get an address");
    CHECK(f.leases(2, "192.168.105.8").empty());
    CHECK(f.leases(1, "192.168.105.9") == strings{"aim tcp 127.0.0.1:2222 192.168.105.9"});
    CHECK(f.notes.back() == "tcp 127.0.0.1:2222 -> 52:54:00:00:00:01:22 leads to 192.168.105.9");
    CHECK(f.leases(1, "192.168.105.9").empty()); // a renewal
    CHECK(f.leases(1, "192.168.105.10") == strings{"aim tcp 127.0.0.1:2222 192.168.105.10"});
    CHECK(f.gives_back(1, "192.168.105.10") == strings{"aim tcp 127.0.0.1:2222 nowhere"});
  }

  TEST_CASE("a name is what a VM calls itself, in either letter case") {
    fixture f;
    f.add("80 -> Web");
    CHECK(f.leases(1, "192.168.105.9", "db").empty());
    CHECK(f.leases(2, "192.168.105.10", "wEB") == strings{"aim tcp 127.0.0.1:80 192.168.105.10"});
    CHECK(f.leases(2, "192.168.105.11", "web") == strings{"aim tcp 127.0.0.1:80 192.168.105.11"});
    // It changes its name, and another takes it.
    CHECK(f.leases(2, "192.168.105.11", "old") == strings{"aim tcp 127.0.0.1:80 nowhere"});
    CHECK(f.leases(1, "192.168.105.9", "web") == strings{"aim tcp 127.0.0.1:80 192.168.105.9"});
  }

  TEST_CASE("hostile: a VM that takes the name of another does not get its forward") {
    fixture f;
    f.add("80 -> web");
    f.leases(1, "192.168.105.9", "web");
    CHECK(f.leases(2, "192.168.105.10", "web").empty());
    CHECK(f.leases(1, "192.168.105.11", "web") == strings{"aim tcp 127.0.0.1:80 192.168.105.11"});
    CHECK(f.gives_back(1, "192.168.105.11") == strings{"aim tcp 127.0.0.1:80 192.168.105.10"});
  }

  TEST_CASE("a reserved name leads to its VM only, and to a reserved address without a lease") {
    SUBCASE("with a name alone") {
      fixture f{with_reservation("web", 1)};
      f.add("80 -> web");
      CHECK(f.leases(2, "192.168.105.9", "web").empty());
      CHECK(f.leases(1, "192.168.105.10") == strings{"aim tcp 127.0.0.1:80 192.168.105.10"});
    }
    SUBCASE("with an address") {
      fixture f{with_reservation("web", 1, "192.168.105.20")};
      f.add("80 -> WEB");
      CHECK(f.carrier.log.back() == "aim tcp 127.0.0.1:80 192.168.105.20");
    }
  }

  TEST_CASE("an address that went to another VM leads there no more") {
    fixture f{with_range("192.168.105.10", "192.168.105.10")};
    f.add("80 -> 52:54:00:00:00:01");
    f.leases(1, "192.168.105.10");
    f.now += 24h * 400; // its lease has ended long ago
    f.carrier.log.clear();
    f.server.leases().offer(vm(2), {}, f.now);
    CHECK(f.leases(2, "192.168.105.10") == strings{"aim tcp 127.0.0.1:80 nowhere"});
  }

  TEST_CASE("leases that were read from a file are found by looking at all") {
    fixture f;
    f.add("80 -> web");
    f.server.leases().bind(vm(1), ip("192.168.105.9"), "web", f.now);
    f.table.follow(nullptr);
    CHECK(f.carrier.log.back() == "aim tcp 127.0.0.1:80 192.168.105.9");
  }

  TEST_CASE("two forwards do not listen at one place, and the first is named") {
    fixture f;
    f.add("0.0.0.0:80 -> web");
    const auto again = f.table.add(parse_forward("80 -> db")->front());
    REQUIRE_FALSE(again);
    CHECK(again.error().code == EADDRINUSE);
    CHECK(again.error().text.find("tcp 0.0.0.0:80 -> web:80") != std::string::npos);
    CHECK(f.table.list().size() == 1);
  }

  TEST_CASE("a place that cannot be had leaves no forward; one that is removed can be had again") {
    fixture f;
    f.carrier.refuses_open = true;
    CHECK_FALSE(f.table.add(parse_forward("80 -> web")->front()));
    CHECK(f.table.list().empty());
    f.carrier.refuses_open = false;
    f.add("80 -> web");
    bool closed = false;
    CHECK(f.table.remove(*parse_forward_listen("80"), [&] { closed = true; }));
    CHECK(closed);
    CHECK_FALSE(f.table.remove(*parse_forward_listen("80"), [] {}));
    f.add("80 -> web");
  }

  TEST_CASE("a forward that could not be aimed is tried again when its VM says something") {
    fixture f;
    f.add("80 -> web");
    f.carrier.refuses_aim = true;
    f.leases(1, "192.168.105.9", "web");
    CHECK(f.notes.back().find("no more descriptors") != std::string::npos);
    CHECK_FALSE(f.table.list()[0].address);
    f.carrier.refuses_aim = false;
    CHECK(f.leases(1, "192.168.105.9", "web").size() == 1);
    CHECK(f.table.list()[0].address == ip_address{ip("192.168.105.9")});
  }

  TEST_CASE("what somebody has added is the configuration's, and goes on, once that has the same") {
    fixture f;
    const auto rule = parse_forward("80 -> 192.168.105.9")->front();
    const auto elsewhere = parse_forward("80 -> 192.168.105.10")->front();
    REQUIRE(f.table.add(rule, "pid 1, uid 0"));
    CHECK(f.table.find(rule.listen)->by == "pid 1, uid 0");
    CHECK_FALSE(f.table.add(rule, "pid 2, uid 0"));
    CHECK_FALSE(f.table.add(elsewhere));
    f.carrier.log.clear();
    CHECK(f.table.add(rule));
    CHECK(f.carrier.log.empty());
    CHECK(f.table.find(rule.listen)->by.empty());
    CHECK_FALSE(f.table.add(rule)); // twice in one configuration
    CHECK(f.table.list().size() == 1);
    CHECK_FALSE(f.table.find(*parse_forward_listen("81")));
  }

  TEST_CASE("a network has a thousand forwards, and no more") {
    fixture f;
    f.add("1-1024 -> 192.168.105.9");
    CHECK_FALSE(f.table.add(parse_forward("2000 -> web")->front()));
  }

} // TEST_SUITE
