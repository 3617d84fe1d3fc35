// What changes in a network that is up, with real threads and sockets: who is not concerned must
// not notice.

#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "actors/messages.hpp"
#include "tests/integration/daemon_lab.hpp"
#include "tests/integration/witness.hpp"
#include "tests/support/running_network.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

using what = network_event::what;

struct lab {
  explicit lab(host_mode mode = host_mode::isolated) {
    config.name = "lab";
    config.host.mode = mode;
    config.listeners = {{listen_type::stream, folder / "s", {}, {}},
                        {listen_type::dgram, folder / "d", {}, {}}};
    network.emplace(config);
    REQUIRE(network->next_event().kind == what::up);
  }
  template <class Change>
  void done(Change message) {
    const auto event = network->change(std::move(message));
    CHECK(event.kind == what::changed);
    CHECK(event.text == "");
  }
  template <class Change>
  std::string refused(Change message) {
    const auto event = network->change(std::move(message));
    CHECK(event.kind == what::changed);
    CHECK(event.text != "");
    return event.text;
  }
  frame_socket connect(const std::string& name = "s") {
    auto made = frame_socket::stream(folder / name);
    REQUIRE(made);
    return std::move(*made);
  }

  temporary_folder folder;
  network_config config;
  std::optional<running_network> network;
};

} // namespace

TEST_CASE("a socket is added and taken away: its VMs go, all others stay") {
  lab l;
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  for (int round = 0; round < 3; ++round) {
    l.done(add_listener{0, {listen_type::stream, l.folder / "more", {}, {}}});
    auto c = l.connect("more");
    REQUIRE(hears(c, a));
    l.done(remove_listener{0, l.folder / "more"});
    CHECK_FALSE(l.folder.has("more"));
    CHECK(is_hung_up(c));
    CHECK(hears(b, a));
  }
  CHECK(hears(a, b));
}

TEST_CASE("a datagram socket is taken away, and comes back at the same path") {
  lab l;
  auto a = l.connect();
  for (int round = 0; round < 3; ++round) {
    auto vm = frame_socket::datagram(l.folder / "vm", l.folder / "d");
    REQUIRE(vm);
    REQUIRE(hears(a, *vm));
    l.done(remove_listener{0, l.folder / "d"});
    CHECK_FALSE(l.folder.has("d"));
    l.done(add_listener{0, {listen_type::dgram, l.folder / "d", {}, {}}});
  }
  auto vm = frame_socket::datagram(l.folder / "vm", l.folder / "d");
  REQUIRE(vm);
  CHECK(hears(a, *vm));
}

TEST_CASE("a socket that cannot be made, or is not there, is refused with its reason") {
  lab l;
  auto a = l.connect(), b = l.connect();
  l.folder.write("taken", "precious");
  CHECK(contains(l.refused(add_listener{0, {listen_type::stream, l.folder / "taken", {}, {}}}),
                 "taken"));
  CHECK(l.folder.read("taken") == "precious");
  CHECK(contains(l.refused(add_listener{0, {listen_type::stream, l.folder / "s", {}, {}}}),
                 "another process"));
  CHECK(contains(l.refused(remove_listener{0, l.folder / "nowhere"}), "no socket"));
  CHECK(contains(l.refused(change_access{0, {listen_type::stream, l.folder / "nowhere", {}, {}}}),
                 "no socket"));
  CHECK(contains(l.refused(change_host{0, l.config}), "no host interface"));
  CHECK(hears(b, a));
}

TEST_CASE("group and mode of sockets of both types change while VMs are connected") {
  lab l;
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  for (const auto* name : {"s", "d"}) {
    l.done(change_access{0, {listen_type::stream, l.folder / name, {}, 0640}});
    struct stat status {};
    REQUIRE(::lstat((l.folder / name).c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0640);
  }
  CHECK(hears(b, a));
}

TEST_CASE("VMs of an isolated socket do not hear each other, until it is none any more") {
  lab l;
  l.done(add_listener{0, {listen_type::stream, l.folder / "apart", {}, {}, {}, true}});
  auto a = l.connect("apart"), b = l.connect("apart"), c = l.connect();
  REQUIRE(hears(c, a));
  REQUIRE(hears(c, b));
  const auto first_heard = [](frame_socket& vm) {
    int tag = 0;
    REQUIRE(vm.receive(soon(), [&](std::span<const std::byte> bare) {
                tag = tag == 0 ? tag_of(bare) : tag;
              }).value_or(0) > 0);
    return tag;
  };
  REQUIRE(c.send(tagged_frame(broadcast_mac, vm_mac(3), 7), soon()));
  CHECK(first_heard(a) == 7);
  CHECK(first_heard(b) == 7);
  l.done(change_access{0, {listen_type::stream, l.folder / "apart", {}, {}, {}, false}});
  CHECK(hears(b, a));
}

TEST_CASE("the limit of ports holds for those who come, and nobody is turned out") {
  lab l;
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  auto limits = l.config.limits;
  limits.ports = 1;
  l.done(change_limits{0, limits});
  auto late = l.connect();
  CHECK(is_hung_up(late));
  CHECK(hears(b, a));
  limits.ports = 3;
  l.done(change_limits{0, limits});
  auto c = l.connect();
  CHECK(hears(c, a));
}

TEST_CASE("limits, sockets and the host interface change by the hundred: no frame is lost") {
  lab l{host_mode::user};
  auto limits = l.config.limits;
  limits.egress_deadline = 5s; // the machine may be busy
  l.done(change_limits{0, limits});
  witness w{l.connect(), l.connect()};
  for (int round = 0; round < 50; ++round) {
    limits.slab_budget = 4 + static_cast<std::size_t>(round % 8);
    limits.macs_per_port = 100 + static_cast<std::size_t>(round);
    l.done(change_limits{0, limits});
    l.done(add_listener{0, {listen_type::stream, l.folder / "more", {}, {}}});
    l.config.host.host_loopback = round % 2 == 0;
    l.done(change_host{0, l.config});
    l.config.dhcp.lease_time = std::chrono::seconds{60 + round};
    l.done(change_services{0, l.config});
    l.done(remove_listener{0, l.folder / "more"});
  }
  w.check();
}

TEST_CASE("a host interface that cannot start is refused with its reason, and the old one stays") {
  lab l{host_mode::user};
  auto a = l.connect(), b = l.connect();
  auto other = l.config;
  other.host.mode = host_mode::bridged;
  other.host.interface = "no-such-bridge";
  CHECK(contains(l.refused(change_host{0, other}), "no-such-bridge"));
  CHECK(hears(b, a));
  other.host = l.config.host;
  other.host.host_loopback = false;
  l.done(change_host{0, other});
}
