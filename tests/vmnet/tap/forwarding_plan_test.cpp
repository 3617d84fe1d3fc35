#include "vmnet/tap/forwarding_plan.hpp"

#include <map>

#include <doctest/doctest.h>

#include "vmnet/tap/kernel_router.hpp"

using namespace vmswitch;

namespace {

// A host: its settings by "family device key". What is not there does not exist.
struct host {
  std::map<std::string, std::string> values;
  forwarding_state state;

  host() {
    state.device = "tap";
    state.uplinks4 = state.uplinks6 = {"eth0"};
    state.devices = {"eth0", "eth1"};
    state.read = [this](std::string_view family, std::string_view device, std::string_view key) {
      const auto found =
          values.find(std::string{family} + " " + std::string{device} + " " + std::string{key});
      return found == values.end() ? std::string{} : found->second;
    };
    for (const auto* device : {"tap", "eth0", "eth1", "all"}) {
      const std::string name{device};
      values["ipv4 " + name + " forwarding"] = "0";
      values["ipv6 " + name + " forwarding"] = "0";
      values["ipv6 " + name + " accept_ra"] = "1";
    }
  }
  void add_force_forwarding() {
    for (const auto* device : {"tap", "eth0", "eth1", "all"})
      values["ipv6 " + std::string{device} + " force_forwarding"] = "0";
  }
  forwarding_plan plan() const { return plan_forwarding(state); }
};

setting_change on(const char* family, const char* device, const char* key = "forwarding") {
  return {family, device, key, "0", "1"};
}

using changes = std::vector<setting_change>;
using names = std::vector<std::string>;

} // namespace

template <>
struct doctest::StringMaker<setting_change> {
  static doctest::String convert(const setting_change& one) {
    return (one.family + "/" + one.device + "/" + one.key + " " + one.from + "->" + one.to).c_str();
  }
};

TEST_SUITE("forwarding_plan") {

  TEST_CASE("IPv4 is forwarded on the device and the uplink, and nowhere else") {
    host h;
    h.state.ipv6 = false;
    CHECK(h.plan().changes == changes{on("ipv4", "tap"), on("ipv4", "eth0")});
    CHECK(h.plan().closed4 == names{"eth0"});
  }

  TEST_CASE("on a host that forwards already nothing changes, and nothing is closed") {
    host h;
    h.state.ipv6 = false;
    h.values["ipv4 tap forwarding"] = h.values["ipv4 eth0 forwarding"] = "1";
    CHECK(h.plan().changes.empty());
    CHECK(h.plan().closed4.empty());
  }

  TEST_CASE("where the kernel can, IPv6 is switched on for single devices") {
    host h;
    h.add_force_forwarding();
    CHECK(h.plan().changes == changes{on("ipv4", "tap"), on("ipv4", "eth0"),
                                      on("ipv6", "tap", "force_forwarding"),
                                      on("ipv6", "eth0", "force_forwarding"), on("ipv6", "tap")});
    CHECK(h.plan().closed6 == names{"eth0"});
  }

  TEST_CASE("where it cannot, devices go on to take router advertisements, and are told so first") {
    host h;
    h.values["ipv6 eth1 accept_ra"] = "0";
    const auto plan = h.plan();
    CHECK(plan.changes == changes{on("ipv4", "tap"),
                                  on("ipv4", "eth0"),
                                  {"ipv6", "eth0", "accept_ra", "1", "2"},
                                  on("ipv6", "all"),
                                  on("ipv6", "tap")});
    CHECK(plan.closed6 == names{"eth0", "eth1"});
  }

  TEST_CASE("a device that forwards IPv6 by itself does so after all is taken back") {
    host h;
    h.values["ipv6 eth1 forwarding"] = "1";
    const auto plan = h.plan();
    CHECK(plan.closed6 == names{"eth0"});
    const auto back = restoring_order(plan.changes);
    CHECK(back.front() == on("ipv6", "all"));
    bool told = false;
    for (const auto& change : back)
      told = told || change == setting_change{"ipv6", "eth1", "forwarding", "1", "1"};
    CHECK(told);
  }

  TEST_CASE("an IPv6 router stays as it is") {
    host h;
    h.values["ipv6 all forwarding"] = h.values["ipv6 tap forwarding"] = "1";
    CHECK(h.plan().changes == changes{on("ipv4", "tap"), on("ipv4", "eth0")});
    CHECK(h.plan().closed6.empty());
  }

  TEST_CASE("what another network of ours has switched on is recorded again") {
    host h;
    h.add_force_forwarding();
    h.values["ipv4 eth0 forwarding"] = h.values["ipv6 eth0 force_forwarding"] = "1";
    h.state.others = {on("ipv4", "eth0"), on("ipv6", "eth0", "force_forwarding")};
    const auto plan = h.plan();
    CHECK(plan.changes == changes{on("ipv4", "tap"), on("ipv4", "eth0"),
                                  on("ipv6", "tap", "force_forwarding"),
                                  on("ipv6", "eth0", "force_forwarding"), on("ipv6", "tap")});
    CHECK(plan.closed4 == names{"eth0"});
  }

  TEST_CASE("... on an older kernel, too") {
    host h;
    h.values["ipv6 all forwarding"] = h.values["ipv6 eth0 forwarding"] = "1";
    h.values["ipv6 eth0 accept_ra"] = "2";
    h.values["ipv6 tap forwarding"] = "1";
    h.values["ipv6 eth1 forwarding"] = "1";
    const setting_change router{"ipv6", "eth1", "forwarding", "1", "1"};
    h.state.others = {{"ipv6", "eth0", "accept_ra", "1", "2"}, router, on("ipv6", "all")};
    const auto plan = h.plan();
    CHECK(plan.changes == changes{on("ipv4", "tap"),
                                  on("ipv4", "eth0"),
                                  {"ipv6", "eth0", "accept_ra", "1", "2"},
                                  router,
                                  on("ipv6", "all")});
    CHECK(plan.closed6 == names{"eth0"});
  }

} // TEST_SUITE
