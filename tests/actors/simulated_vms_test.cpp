// A switch, its ports and simulated VMs on memory links, without threads: time passes only when a
// test says so.

#include <doctest/doctest.h>

#include "actors/port/port_actor.hpp"
#include "actors/switch/switch_actor.hpp"
#include "tests/support/actor_fixture.hpp"
#include "tests/support/bursts.hpp"
#include "tests/support/seeded_random.hpp"
#include "tests/support/simulated_vm.hpp"
#include "transport/memory_link.hpp"

namespace vmswitch {

using namespace std::chrono_literals;
using namespace test;

namespace {

constexpr ipv4_subnet subnet{{0x0a000000}, 24};

struct network : actor_fixture {
  struct machine {
    simulated_vm vm;
    memory_peer link;
    caf::actor port;
    bool reads = true;
    std::vector<std::byte> received; // not yet a whole frame
  };

  ~network() {
    tell(the_switch, stop{});
    run();
  }

  machine& plug_in(std::uint32_t number) {
    auto [link, peer] = make_memory_link("vm" + std::to_string(number));
    machines.push_back(std::make_unique<machine>(
        machine{simulated_vm{vm_mac(number)}, std::move(peer), {}, true, {}}));
    auto& added = *machines.back();
    added.vm.use_address(subnet.at(number), subnet, {});
    added.port = spawn_port(system(), nullptr,
                            {{number, 1},
                             "net." + std::to_string(number),
                             "/s",
                             the_switch,
                             supervisor.handle,
                             std::move(link),
                             stock(),
                             1518,
                             {}});
    run();
    return added;
  }

  void send(machine& from, const simulated_vm::frames& frames) {
    std::vector<std::byte> bytes;
    for (const auto& each : frames)
      append_wire_form(bytes, each);
    if (!bytes.empty())
      from.link.send(bytes);
  }

  // Lets everybody talk until nobody has anything more to say.
  void settle() {
    for (bool said = true; said;) {
      said = false;
      run();
      for (auto& each : machines) {
        if (!each->reads)
          continue;
        const auto bytes = each->link.receive();
        each->received.insert(each->received.end(), bytes.begin(), bytes.end());
        said = said || !bytes.empty();
        std::size_t at = 0;
        while (each->received.size() - at >= prefix_size) {
          const std::size_t length = read_prefix(each->received.data() + at);
          REQUIRE(length <= 1518);
          if (each->received.size() - at - prefix_size < length)
            break;
          send(*each,
               each->vm.on_frame(std::span{each->received}.subspan(at + prefix_size, length), now));
          at += prefix_size + length;
        }
        each->received.erase(each->received.begin(),
                             each->received.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
  }

  void pass(std::chrono::milliseconds time) {
    now += time;
    advance(time);
    for (auto& each : machines)
      send(*each, each->vm.on_time(now));
    settle();
  }

  probe supervisor{*this};
  caf::actor the_switch = spawn_switch(system(), nullptr, "net", {}, 3);
  std::vector<std::unique_ptr<machine>> machines;
  simulated_vm::time now{1000};
};

} // namespace

TEST_CASE("VMs resolve and ping each other, and nobody hears what is not for him") {
  network net;
  for (std::uint32_t number = 1; number <= 5; ++number)
    net.plug_in(number);
  for (auto& each : net.machines)
    for (std::uint32_t number = 1; number <= 5; ++number)
      if (each->vm.address() != subnet.at(number))
        net.send(*each, each->vm.ping(subnet.at(number), net.now, 1400));
  net.settle();
  for (auto& each : net.machines) {
    CHECK(each->vm.all_answered());
    CHECK(each->vm.received().for_others == 0);
  }
}

TEST_CASE("VMs whose links cut frames anywhere still understand each other") {
  seeded_random random;
  CAPTURE(random.seed());
  network net;
  for (std::uint32_t number = 1; number <= 3; ++number) {
    auto& vm = net.plug_in(number);
    vm.link.limit_reads(1 + random.below(40));
    vm.link.limit_writes(1 + random.below(40));
  }
  for (int round = 0; round < 20; ++round) {
    auto& from = *net.machines[random.below(3)];
    for (std::uint32_t number = 1; number <= 3; ++number)
      if (from.vm.address() != subnet.at(number))
        net.send(from, from.vm.ping(subnet.at(number), net.now, random.below(1400)));
    net.settle();
    CHECK(from.vm.all_answered());
  }
}

TEST_CASE("a VM that is paused costs the others nothing, and is back when it reads again") {
  network net;
  auto& a = net.plug_in(1);
  auto& b = net.plug_in(2);
  auto& paused = net.plug_in(3);
  paused.reads = false;
  paused.link.set_capacity(100);
  for (int i = 0; i < 200; ++i) {
    net.send(a, a.vm.ping(subnet.at(3), net.now, 1400)); // floods: nobody knows it yet
    net.send(a, a.vm.ping(subnet.at(2), net.now, 1400));
    net.pass(5ms);
    CHECK(a.vm.round_trip(subnet.at(2)));
    CHECK_FALSE(a.vm.round_trip(subnet.at(3)));
  }
  CHECK(b.vm.received().for_me > 0);
  paused.reads = true;
  paused.link.set_capacity(1'000'000);
  net.settle();
  for (int i = 0; i < 10 && !a.vm.round_trip(subnet.at(3)); ++i)
    net.pass(500ms); // asked again
  CHECK(a.vm.round_trip(subnet.at(3)));
}

TEST_CASE("a VM that moves to another port is found there at once") {
  network net;
  auto& a = net.plug_in(1);
  auto& old_place = net.plug_in(2);
  net.send(a, a.vm.ping(subnet.at(2), net.now));
  net.settle();
  REQUIRE(a.vm.round_trip(subnet.at(2)));
  old_place.link.hang_up();
  net.settle();
  auto [link, peer] = make_memory_link("moved");
  net.machines.push_back(std::make_unique<network::machine>(
      network::machine{simulated_vm{vm_mac(2)}, std::move(peer), {}, true, {}}));
  auto& moved = *net.machines.back();
  moved.vm.use_address(subnet.at(2), subnet, {});
  moved.port = spawn_port(net.system(), nullptr,
                          {{7, 1},
                           "net.7",
                           "/s",
                           net.the_switch,
                           net.supervisor.handle,
                           std::move(link),
                           net.stock(),
                           1518,
                           {}});
  net.run();
  net.send(a, a.vm.ping(subnet.at(2), net.now));
  net.settle();
  CHECK(a.vm.round_trip(subnet.at(2)));
}

} // namespace vmswitch
