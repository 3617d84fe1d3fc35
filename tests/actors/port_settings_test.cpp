// What ports are told while they are there, on a whole network without threads.

#include <optional>

#include <doctest/doctest.h>

#include "actors/inspect/inspector_actor.hpp"
#include "actors/network/network_actor.hpp"
#include "tests/support/actor_fixture.hpp"
#include "tests/support/bursts.hpp"
#include "transport/memory_link.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

using answer = port_answer::what;

// VMs lab.1, lab.2, ..., which say their numbers.
struct lab : actor_fixture {
  explicit lab(std::size_t vms) {
    network_config config;
    config.name = "lab";
    config.host.mode = host_mode::isolated;
    network_runtime runtime;
    runtime.stock = stock();
    runtime.report = [](const network_event&) {};
    runtime.publish = [this](daemon_event event) { events.push_back(std::move(event)); };
    network = spawn_network(system(), config, std::move(runtime));
    run();
    tell(inspector, watch_networks{{{"lab", network}}});
    for (std::size_t i = 0; i < vms; ++i)
      plug_in();
    run();
    for (std::uint32_t i = 1; i <= vms; ++i)
      send(i, broadcast_mac);
    hear();
    events.clear();
  }
  ~lab() {
    tell(network, stop{});
    tell(inspector, stop{});
    run();
  }

  // Does not run the port yet.
  void plug_in() {
    auto [link, peer] = make_memory_link();
    tell(network, connected{std::move(link), "/s", {}, {}});
    machines.push_back(std::move(peer));
  }
  void send(std::uint32_t from, mac_address to) {
    std::vector<std::byte> wire;
    append_wire_form(wire, tagged_frame(to, vm_mac(from), static_cast<std::uint8_t>(from)));
    machines.at(from - 1).send(wire);
    run();
  }
  // Who has heard whom since the last time.
  std::vector<std::vector<int>> hear() {
    std::vector<std::vector<int>> heard;
    for (auto& each : machines) {
      auto& tags = heard.emplace_back();
      const auto wire = each.receive();
      for (std::size_t at = 0; at < wire.size();) {
        const auto length = read_prefix(wire.data() + at);
        tags.push_back(tag_of(std::span{wire}.subspan(at + prefix_size, length)));
        at += prefix_size + length;
      }
    }
    return heard;
  }
  // Without running: the answer comes into `answers`.
  void ask(const std::string& port, port_change change) {
    tell(network, change_port{port, std::move(change), "pid 4711, uid 1000",
                              std::make_shared<port_reply>([this](port_answer told) {
                                answers.push_back(std::move(told));
                              })});
  }
  port_answer change(const std::string& port, port_change wanted) {
    answers.clear();
    ask(port, std::move(wanted));
    run();
    REQUIRE(answers.size() == 1);
    return answers.front();
  }
  network_snapshot look() {
    std::shared_ptr<const daemon_snapshot> seen;
    tell(inspector, inspect{{.ports = true, .macs = true}, [&seen](auto told) { seen = told; }});
    advance(20ms); // the inspector's pause
    REQUIRE(seen);
    return seen->networks.at(0);
  }

  caf::actor network;
  caf::actor inspector = spawn_inspector(system());
  std::vector<memory_peer> machines;
  std::vector<daemon_event> events;
  std::vector<port_answer> answers;
};

using lists = std::vector<std::vector<int>>;

} // namespace

TEST_CASE("isolated ports get nothing of each other, and everything of all others") {
  lab l{3};
  for (const char* port : {"lab.1", "lab.2"})
    CHECK(l.change(port, {{}, true, {}}).kind == answer::done);
  l.send(1, vm_mac(2));
  l.send(1, vm_mac(3));
  l.send(3, vm_mac(2));
  l.send(2, broadcast_mac);
  CHECK(l.hear() == lists{{}, {3}, {1, 2}});
  const auto seen = l.look();
  CHECK(seen.ports.at(0).counters.drops[drop_reason::port_isolated] == 1);
  CHECK(seen.ports.at(0).brief.flags == port_flags{true, false});
  CHECK(seen.totals().drops.total() == 1);
  CHECK(l.change("lab.1", {{}, false, {}}).kind == answer::done);
  l.send(1, vm_mac(2));
  CHECK(l.hear() == lists{{}, {1}, {}});
}

TEST_CASE("a port that is set down keeps its connection, and nothing else") {
  lab l{3};
  CHECK(l.look().macs.size() == 3);
  CHECK(l.change("lab.1", {{}, {}, false}).kind == answer::done);
  CHECK(l.look().macs.size() == 2);
  l.send(1, vm_mac(2));
  l.send(2, vm_mac(1));
  l.send(3, broadcast_mac);
  CHECK(l.hear() == lists{{}, {3}, {2}});
  const auto seen = l.look();
  CHECK(seen.ports.at(0).counters.drops[drop_reason::port_down] == 3); // one from it, two to it
  CHECK(seen.macs.size() == 2);
  CHECK_FALSE(l.machines[0].closed());
  CHECK(l.change("lab.1", {{}, {}, true}).kind == answer::done);
  l.send(1, vm_mac(2));
  l.send(2, vm_mac(1));
  CHECK(l.hear() == lists{{2}, {1}, {}});
}

TEST_CASE(
    "a name is one port's only, beside its stable one, until it is taken away or the VM goes") {
  lab l{2};
  CHECK(l.change("lab.1", {"web", {}, {}}).kind == answer::done);
  CHECK(l.look().ports.at(0).brief.alias == "web");
  CHECK(l.look().ports.at(0).brief.name == "lab.1");
  CHECK(l.look().macs.at(0).alias == "web");
  const auto taken = l.change("lab.2", {"web", true, {}});
  CHECK(taken.kind == answer::name_taken);
  CHECK(taken.text.find("port lab.1 has the name web") == 0);
  CHECK_FALSE(l.look().ports.at(1).brief.flags.isolated); // all or nothing
  CHECK(l.change("web", {{}, {}, false}).kind == answer::done);
  CHECK(l.look().ports.at(0).brief.flags.down);
  CHECK(l.change("lab.1", {"www", {}, {}}).kind == answer::done);
  CHECK(l.change("web", {{}, {}, true}).kind == answer::no_port);
  CHECK(l.change("lab.2", {"web", {}, {}}).kind == answer::done);
  CHECK(l.change("lab.2", {"", {}, {}}).kind == answer::done);
  CHECK(l.change("web", {}).kind == answer::no_port);
  l.machines[0].hang_up();
  l.run();
  CHECK(l.change("lab.2", {"www", {}, {}}).kind == answer::done);
}

TEST_CASE("settings end with their port") {
  lab l{1};
  CHECK(l.change("lab.1", {"web", true, false}).kind == answer::done);
  l.machines[0].hang_up();
  l.run();
  CHECK(l.change("web", {}).text == "network lab has no port web: it may have gone");
  l.plug_in();
  l.run();
  const auto brief = l.look().ports.at(0).brief;
  CHECK(brief.name == "lab.2");
  CHECK(brief.alias.empty());
  CHECK(brief.flags == port_flags{});
}

TEST_CASE(
    "a change is told to those who watch, with who made it; one that changes nothing is not") {
  lab l{1};
  l.change("lab.1", {"web", true, false});
  REQUIRE(l.events.size() == 1);
  CHECK(l.events[0].type == std::string_view{"port_changed"});
  CHECK(l.events[0].network == "lab");
  CHECK(l.events[0].port == "lab.1");
  CHECK(l.events[0].alias == "web");
  CHECK(l.events[0].text == "port lab.1: name web, isolated, set down (pid 4711, uid 1000)");
  l.change("web", {"web", true, false});
  CHECK(l.events.size() == 1);
  l.machines[0].hang_up();
  l.run();
  REQUIRE(l.events.size() == 2);
  CHECK(l.events[1].type == std::string_view{"port_down"});
  CHECK(l.events[1].alias == "web");
}

TEST_CASE("a port can be changed before it has run for the first time") {
  lab l{1};
  l.plug_in();
  l.ask("lab.2", {{}, {}, false});
  l.run();
  REQUIRE(l.answers.size() == 1);
  CHECK(l.answers[0].kind == answer::done);
  l.send(1, broadcast_mac);
  CHECK(l.hear() == lists{{}, {}});
}

TEST_CASE("who asks a network that ends gets his answer") {
  std::optional<port_answer> told;
  {
    lab l{1};
    tell(l.network, stop{});
    l.run();
    tell(l.network, change_port{"lab.1", {}, "", std::make_shared<port_reply>([&](auto with) {
                                  told = with;
                                })});
    l.run();
  }
  REQUIRE(told);
  CHECK(told->kind == answer::no_port);
}
