#include "app/reload/reload_plan.hpp"

#include <doctest/doctest.h>

#include "tests/app/reload/plan_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

using kinds = std::vector<action_kind>;
using texts = std::vector<std::string>;

// Sections of one network, of which the tests replace some.
struct parts {
  parts(std::string of_daemon = {}, std::string of_network = {}, std::string sections = {},
        std::string of_listener = "path = \"/run/a.sock\"\n")
      : daemon{std::move(of_daemon)}, network{std::move(of_network)}, more{std::move(sections)},
        listen{std::move(of_listener)} {}

  daemon_settings settings() const {
    return parsed("[daemon]\n" + daemon + "[[network]]\nname = \"lab\"\n" + network + more +
                  "[[network.listen]]\n" + listen);
  }

  std::string daemon, network, more, listen;
};

reload_plan from_to(const parts& now, const parts& next) {
  return plan_reload(now.settings(), next.settings());
}

void check_single(const reload_plan& plan, action_kind kind, const std::string& text) {
  REQUIRE(plan.actions.size() == 1);
  CHECK(plan.held.empty());
  CHECK(plan.actions[0].kind == kind);
  CHECK(plan.actions[0].text == text);
}

} // namespace

TEST_SUITE("reload_plan") {

  TEST_CASE("without a difference there is nothing to do") {
    const parts full{"workers = 2\n", "mtu = 9000\n",
                     "[network.limits]\nports = 10\n[[network.reservation]]\n"
                     "mac = \"52:54:00:00:00:01\"\naddress = \"192.168.105.9\"\n"};
    CHECK(from_to(full, full).actions.empty());
    CHECK(from_to(full, full).held.empty());
  }

  TEST_CASE("the order of networks and listeners, and the spelling of paths, are no difference") {
    const auto now = parsed("[[network]]\nname = \"a\"\n[[network.listen]]\npath = \"/run/a\"\n"
                            "[[network.listen]]\npath = \"/run/a2\"\n"
                            "[[network]]\nname = \"b\"\n[[network.listen]]\npath = \"/run/b\"\n");
    const auto next = parsed("[[network]]\nname = \"b\"\n[[network.listen]]\npath = \"/run/./b\"\n"
                             "[[network]]\nname = \"a\"\n[[network.listen]]\npath = \"/run/a2\"\n"
                             "[[network.listen]]\npath = \"/run/x/../a\"\n");
    CHECK(texts_of(plan_reload(now, next)).empty());
    CHECK(held_in(plan_reload(now, next)).empty());
  }

  TEST_CASE("level and format of the log") {
    check_single(from_to({}, {"log_level = \"debug\"\nlog_format = \"json\"\n"}),
                 action_kind::change_log, "log: level info -> debug, format text -> json");
  }

  TEST_CASE("a network more, a network less") {
    const auto one = parts{}.settings();
    auto two = one;
    two.networks.push_back(one.networks[0]);
    two.networks[1].name = "more";
    two.networks[1].listeners[0].path = "/run/more.sock";
    check_single(plan_reload(one, two), action_kind::add_network,
                 "network more: add it: mode user, stream socket /run/more.sock");
    CHECK(plan_reload(one, two).actions[0].network == two.networks[1]);
    check_single(plan_reload(two, one), action_kind::remove_network,
                 "network more: remove it; its VMs are disconnected");
  }

  TEST_CASE("a socket more, a socket less, another type, group and mode") {
    const parts two{"", "", "",
                    "path = \"/run/a.sock\"\n[[network.listen]]\ntype = \"dgram\"\n"
                    "path = \"/run/b.sock\"\n"};
    check_single(from_to({}, two), action_kind::add_listener,
                 "network lab: open the datagram socket /run/b.sock");
    check_single(from_to(two, {}), action_kind::remove_listener,
                 "network lab: close the datagram socket /run/b.sock; its VMs are disconnected");
    const parts access{"", "", "", "path = \"/run/a.sock\"\ngroup = \"kvm\"\nmode = \"0660\"\n"};
    check_single(from_to({}, access), action_kind::change_listener,
                 "network lab: stream socket /run/a.sock: group default -> kvm, mode default -> "
                 "0660");
    const parts apart{"", "", "", "path = \"/run/a.sock\"\nisolated = true\n"};
    check_single(from_to({}, apart), action_kind::change_listener,
                 "network lab: stream socket /run/a.sock: isolated false -> true");
    const parts other{"", "", "", "path = \"/run/a.sock\"\ntype = \"dgram\"\n"};
    CHECK(kinds_of(from_to({}, other)) ==
          kinds{action_kind::remove_listener, action_kind::add_listener});
  }

  TEST_CASE("limits, with what they were") {
    check_single(from_to({}, {"", "", "[network.limits]\nports = 10\nslabs = 16\n"}),
                 action_kind::change_limits,
                 "network lab: limits: ports 4096 -> 10, slabs 8 -> 16");
  }

  TEST_CASE("what only DHCP is told changes in the running server") {
    const parts one{"", "",
                    "[[network.reservation]]\nmac = \"52:54:00:00:00:01\"\n"
                    "address = \"192.168.105.9\"\n"};
    const parts other{"", "",
                      "[network.dhcp]\nlease_time = 60\ndomain = \"lab\"\ndns = []\n"
                      "range = [\"192.168.105.10\", \"192.168.105.20\"]\n"
                      "[[network.reservation]]\nmac = \"52:54:00:00:00:02\"\n"
                      "address = \"192.168.105.9\"\n"};
    check_single(from_to(one, other), action_kind::change_services,
                 "network lab: DHCP: range default -> 192.168.105.10 to 192.168.105.20, lease_time "
                 "86400 -> 60, domain none -> lab, dns, reservations +1 -1");
  }

  TEST_CASE("DHCP that comes or goes, and another lease file, restart the host interface") {
    for (const char* dhcp : {"enabled = false\n", "lease_file = \"/run/leases\"\n"}) {
      const auto plan = from_to({}, {"", "", std::string{"[network.dhcp]\n"} + dhcp});
      CHECK(kinds_of(plan) == kinds{action_kind::change_host});
    }
  }

  TEST_CASE("what the host is told restarts its interface, together with DHCP") {
    check_single(from_to({}, {"", "host_loopback = false\nmode = \"shared\"\n",
                              "[network.dhcp]\nlease_time = 60\n"}),
                 action_kind::change_host,
                 "network lab: restart the host interface (connections through it end): mode user "
                 "-> shared, host_loopback true -> false; DHCP: lease_time 86400 -> 60");
  }

  TEST_CASE("what is set up once needs a restart, and the rest is done") {
    const auto plan =
        from_to({"workers = 1\n"}, {"workers = 2\npidfile = \"/run/pid\"\nuser = \"vm\"\n"
                                    "group = \"kvm\"\nlog_level = \"warn\"\n"});
    CHECK(held_in(plan) == texts{"pidfile default -> /run/pid", "workers 1 -> 2",
                                 "user default -> vm", "group default -> kvm"});
    CHECK(kinds_of(plan) == kinds{action_kind::change_log});
  }

  TEST_CASE("a daemon that has become another user since needs no restart for that") {
    const auto before = parts{}.settings();
    auto after = before;
    after.control.usual = "/run/user/1000/vmswitch/control.sock";
    CHECK(plan_reload(before, after).held.empty());
    after.control.admins = {"alice"};
    CHECK(held_in(plan_reload(before, after)) == texts{"control socket or dashboard"});
  }

  TEST_CASE("mtu, a passed descriptor, and whether there is a host at all, need a restart") {
    const auto mtu = from_to({}, {"", "mtu = 9000\nhost_loopback = false\n"});
    CHECK(held_in(mtu) == texts{"network lab: mtu 1500 -> 9000"});
    REQUIRE(kinds_of(mtu) == kinds{action_kind::change_host});
    CHECK(mtu.actions[0].network.host.mtu == 1500);
    CHECK_FALSE(mtu.actions[0].network.host.host_loopback);

    const auto fd = from_to({"", "mode = \"host\"\n"}, {"", "mode = \"host\"\ntap_fd = 5\n"});
    CHECK(held_in(fd) == texts{"network lab: tap_fd default -> 5"});
    CHECK(fd.actions.empty());

    const auto mode = from_to({}, {"", "mode = \"isolated\"\n"});
    CHECK(held_in(mode) == texts{"network lab: mode user -> isolated"});
    CHECK(mode.actions.empty());
  }

  TEST_CASE("a new network with a passed descriptor needs a restart") {
    const auto one = parts{}.settings();
    auto two = one;
    two.networks.push_back(parts{"", "mode = \"host\"\ntap_fd = 7\n"}.settings().networks[0]);
    two.networks[1].name = "tap";
    const auto plan = plan_reload(one, two);
    CHECK(held_in(plan) == texts{"network tap: new, with tap_fd"});
    CHECK(plan.actions.empty());
  }

  TEST_CASE("what is given up goes before what may want it: a path that moves between networks") {
    const auto now = parsed("[[network]]\nname = \"a\"\n[[network.listen]]\npath = \"/run/1\"\n"
                            "[[network.listen]]\npath = \"/run/2\"\n"
                            "[[network]]\nname = \"b\"\n[[network.listen]]\npath = \"/run/3\"\n"
                            "[[network]]\nname = \"old\"\n[[network.listen]]\npath = \"/run/4\"\n");
    const auto next = parsed("[[network]]\nname = \"new\"\n[[network.listen]]\npath = \"/run/3\"\n"
                             "[[network]]\nname = \"a\"\n[[network.listen]]\npath = \"/run/1\"\n"
                             "[[network.listen]]\npath = \"/run/4\"\n"
                             "[[network]]\nname = \"b\"\n[[network.listen]]\npath = \"/run/2\"\n");
    CHECK(kinds_of(plan_reload(now, next)) ==
          kinds{action_kind::remove_network, action_kind::remove_listener,
                action_kind::remove_listener, action_kind::add_listener, action_kind::add_listener,
                action_kind::add_network});
  }

} // TEST_SUITE
