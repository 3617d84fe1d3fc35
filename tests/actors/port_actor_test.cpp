#include "actors/port/port_actor.hpp"

#include <doctest/doctest.h>

#include "tests/support/actor_fixture.hpp"
#include "tests/support/bursts.hpp"
#include "transport/memory_link.hpp"

namespace vmswitch {

using namespace std::chrono_literals;
using test::append_wire_form;
using test::frame;
using test::frames_of;
using test::tagged_frame;
using test::vm_mac;

namespace {

// One port over a memory link; the probe stands for the switch.
struct bench : test::actor_fixture {
  explicit bench(network_limits limits = {}) {
    auto [link, other] = make_memory_link("a VM");
    peer.emplace(std::move(other));
    port = spawn_port(system(), nullptr,
                      {{3, 1},
                       "net.1",
                       "/s",
                       vm_switch.handle,
                       supervisor.handle,
                       std::move(link),
                       stock(),
                       1518,
                       limits});
    watch(port, [ended = ended](const caf::error&) { *ended = true; });
    run();
  }
  ~bench() {
    tell(port, stop{});
    run();
    tell(port, detached{});
    run();
  }

  void vm_sends(const std::vector<frame>& frames) {
    std::vector<std::byte> bytes;
    for (const auto& each : frames)
      append_wire_form(bytes, each);
    peer->send(bytes);
    run();
  }
  void vm_sends_raw(std::initializer_list<int> bytes) {
    std::vector<std::byte> raw;
    for (const int each : bytes)
      raw.push_back(static_cast<std::byte>(each));
    peer->send(raw);
    run();
  }
  void switch_sends(const std::vector<frame>& frames) {
    tell(port, frames_out{make(frames)});
    run();
  }
  std::vector<int> vm_received() {
    const auto bytes = peer->receive();
    received.insert(received.end(), bytes.begin(), bytes.end());
    run();
    std::vector<int> tags;
    for (std::size_t at = 0; at + prefix_size <= received.size();) {
      const auto length = read_prefix(received.data() + at);
      REQUIRE(length <= 1518);
      if (at + prefix_size + length > received.size())
        break;
      tags.push_back(test::tag_of(std::span{received}.subspan(at + prefix_size, length)));
      at += prefix_size + length;
    }
    return tags;
  }
  std::vector<frame> switch_received() {
    std::vector<frame> frames;
    for (const auto& each : vm_switch.seen().in)
      for (auto& bare : frames_of(each.frames))
        frames.push_back(std::move(bare));
    return frames;
  }
  port_counters counters() {
    vm_switch.seen().reports.clear();
    tell(port, report_counters{vm_switch.handle});
    run();
    REQUIRE(vm_switch.seen().reports.size() == 1);
    return vm_switch.seen().reports[0].counters;
  }

  test::probe vm_switch{*this};
  test::probe supervisor{*this};
  test::burst_maker make;
  std::optional<memory_peer> peer;
  caf::actor port;
  std::vector<std::byte> received;
  std::shared_ptr<bool> ended = std::make_shared<bool>(false);
};

frame a_frame(std::uint8_t tag, std::size_t size = 60) {
  return tagged_frame(vm_mac(1), vm_mac(0), tag, size);
}

} // namespace

TEST_CASE("what a VM sends arrives at the switch as one burst, and is counted") {
  bench b;
  b.vm_sends({a_frame(1), a_frame(2), a_frame(3, 1514)});
  REQUIRE(b.vm_switch.seen().in.size() == 1);
  CHECK(b.vm_switch.seen().in[0].from == port_id{3, 1});
  CHECK(b.switch_received() == std::vector<frame>{a_frame(1), a_frame(2), a_frame(3, 1514)});
  const auto counters = b.counters();
  CHECK(counters.frames_in == 3);
  CHECK(counters.bytes_in == 60 + 60 + 1514);
}

TEST_CASE("a port attaches itself before its first frames") {
  bench b;
  REQUIRE(b.vm_switch.seen().attaches.size() == 1);
  CHECK(b.vm_switch.seen().attaches[0].id == port_id{3, 1});
  CHECK(b.vm_switch.seen().attaches[0].port == b.port);
}

TEST_CASE("a VM is worth a line in the log when it first speaks, and then when it goes") {
  bench b;
  CHECK(b.supervisor.seen().notes.empty());
  b.vm_sends({a_frame(1)});
  b.vm_sends({a_frame(2)});
  b.peer->hang_up();
  b.run();
  const auto& notes = b.supervisor.seen().notes;
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].text == "port net.1 up: a VM on /s");
  CHECK(notes[1].kind == port_note::what::down);
  CHECK(notes[1].text.find("2 frames in, 0 out") != std::string::npos);
}

TEST_CASE("a client that only looks whether we are alive is no news") {
  bench b;
  b.peer->hang_up();
  b.run();
  REQUIRE(b.supervisor.seen().notes.size() == 1);
  CHECK(b.supervisor.seen().notes[0].kind == port_note::what::silent);
}

TEST_CASE("lima#2680: frames cut anywhere by short reads arrive whole") {
  bench b;
  b.peer->limit_reads(1);
  b.vm_sends({a_frame(1), a_frame(2, 1514)});
  CHECK(b.switch_received() == std::vector<frame>{a_frame(1), a_frame(2, 1514)});
}

TEST_CASE("lima#2680: short writes are finished before anything else is written") {
  bench b;
  b.peer->limit_writes(7);
  b.switch_sends({a_frame(1), a_frame(2)});
  b.switch_sends({a_frame(3, 1000)});
  CHECK(b.vm_received() == std::vector<int>{1, 2, 3});
  CHECK(b.counters().frames_out == 3);
}

TEST_CASE("gtv#670: a length of almost 4 GiB closes that port, with what came before delivered") {
  bench b;
  std::vector<std::byte> bytes;
  append_wire_form(bytes, a_frame(1));
  for (const int each : {0xff, 0xff, 0xff, 0xff})
    bytes.push_back(static_cast<std::byte>(each));
  b.peer->send(bytes);
  b.run();
  CHECK(b.switch_received() == std::vector<frame>{a_frame(1)});
  CHECK(b.peer->closed());
  REQUIRE(b.vm_switch.seen().detaches.size() == 1);
  CHECK(b.vm_switch.seen().detaches[0].id == port_id{3, 1});
}

TEST_CASE("libkrun#577: a runt is dropped and counted, and the next frame arrives") {
  bench b;
  b.vm_sends_raw({0, 0, 0, 0});
  CHECK(b.supervisor.seen().notes.size() == 1); // it has spoken
  b.vm_sends_raw({0, 0, 0, 13, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
  b.vm_sends({a_frame(1)});
  CHECK(b.switch_received() == std::vector<frame>{a_frame(1)});
  CHECK(b.counters().drops[drop_reason::runt] == 2);
  CHECK(b.counters().frames_in == 3);
  CHECK(b.counters().bytes_in == 13 + 60);
}

TEST_CASE("a frame above the network's limit is dropped and counted, and the next one arrives") {
  bench b;
  b.vm_sends({a_frame(1, 1519), a_frame(2, 1518), a_frame(3, 9014), a_frame(4)});
  CHECK(b.switch_received() == std::vector<frame>{a_frame(2, 1518), a_frame(4)});
  CHECK(b.counters().drops[drop_reason::oversize] == 2);
  CHECK(b.counters().frames_in == 4);
  CHECK(b.counters().bytes_in == 1519 + 1518 + 9014 + 60);
}

TEST_CASE("sv#53: a VM that hangs up is detached and ends, after its last frames were delivered") {
  bench b;
  std::vector<std::byte> bytes;
  append_wire_form(bytes, a_frame(1));
  b.peer->send(bytes);
  b.peer->hang_up();
  b.run();
  CHECK(b.switch_received() == std::vector<frame>{a_frame(1)});
  REQUIRE(b.vm_switch.seen().detaches.size() == 1);
  CHECK_FALSE(*b.ended);
  b.switch_sends({a_frame(9), a_frame(9)}); // already on its way
  CHECK(b.counters().drops[drop_reason::port_closed] == 2);
  tell(b.port, detached{});
  b.run();
  CHECK(*b.ended);
}

TEST_CASE("a hang-up in the middle of a frame, or of its length, is a hang-up") {
  for (const std::size_t bytes : {1u, 3u, 4u, 30u}) {
    CAPTURE(bytes);
    bench b;
    std::vector<std::byte> wire;
    append_wire_form(wire, a_frame(1));
    b.peer->send(std::span{wire}.first(bytes));
    b.peer->hang_up();
    b.run();
    CHECK(b.vm_switch.seen().detaches.size() == 1);
    CHECK(b.switch_received().empty());
  }
}

TEST_CASE("lima#2480: a link that is out of memory for a moment stays") {
  bench b;
  b.peer->script_writes({0}); // would block
  b.switch_sends({a_frame(1)});
  b.advance(10ms);
  CHECK(b.vm_received() == std::vector<int>{1});
  CHECK(b.vm_switch.seen().detaches.empty());
}

TEST_CASE("a read error ends the port") {
  bench b;
  b.peer->fail_next_read(EIO);
  b.vm_sends({a_frame(1)});
  CHECK(b.vm_switch.seen().detaches.size() == 1);
  CHECK(b.peer->closed());
}

TEST_CASE("a write error ends the port") {
  bench b;
  b.peer->fail_next_write(EIO);
  b.switch_sends({a_frame(1)});
  CHECK(b.vm_switch.seen().detaches.size() == 1);
}

TEST_CASE("sv#173: frames for a VM that does not read are dropped when the deadline passes") {
  bench b;
  b.peer->set_capacity(0);
  b.switch_sends({a_frame(1), a_frame(2)});
  b.make.release();
  CHECK(b.make.slabs_out() == 1);
  b.advance(49ms);
  CHECK(b.counters().drops.total() == 0);
  CHECK(b.make.slabs_out() == 1);
  b.advance(1ms);
  CHECK(b.counters().drops[drop_reason::egress_expired] == 2);
  CHECK(b.make.slabs_out() == 0);
  SUBCASE("further ones hold no memory at all") {
    b.switch_sends({a_frame(3)});
    b.make.release();
    CHECK(b.make.slabs_out() == 0);
    CHECK(b.counters().drops[drop_reason::egress_stalled] == 1);
  }
  SUBCASE("when it reads again it gets what comes from then on, whole") {
    b.peer->set_capacity(1000);
    b.run();
    b.switch_sends({a_frame(4)});
    CHECK(b.vm_received() == std::vector<int>{4});
  }
}

TEST_CASE("a half-written frame is completed even when its time is over") {
  bench b;
  b.peer->set_capacity(70); // one frame of 64 and the beginning of the next
  b.switch_sends({a_frame(1), a_frame(2), a_frame(3)});
  b.advance(60ms);
  b.peer->set_capacity(10'000);
  b.run();
  b.switch_sends({a_frame(4)});
  CHECK(b.vm_received() == std::vector<int>{1, 2, 4});
  CHECK(b.counters().drops.total() == 1);
}

TEST_CASE("a port reads no more than its slab budget, and goes on when memory comes back") {
  network_limits limits;
  limits.slab_budget = 2;
  bench b{limits};
  std::vector<frame> frames;
  for (std::size_t i = 0; i < 300; ++i) // 450 KB; two slabs hold 256 KiB
    frames.push_back(a_frame(static_cast<std::uint8_t>(i), 1514));
  b.vm_sends(frames);
  const auto before = b.switch_received();
  CHECK(before.size() < 175);
  CHECK(before.size() > 160);
  // The switch lets go of everything, again and again.
  std::vector<frame> all = before;
  for (int i = 0; i < 5; ++i) {
    b.vm_switch.clear();
    b.run();
    for (auto& each : b.switch_received())
      all.push_back(std::move(each));
  }
  CHECK(all == frames);
  CHECK(b.counters().drops.total() == 0);
}

TEST_CASE("a stuck port lets itself be stopped at once") {
  bench b;
  b.peer->set_capacity(0);
  b.switch_sends({a_frame(1)});
  tell(b.port, stop{});
  b.run();
  REQUIRE(b.vm_switch.seen().detaches.size() == 1);
  tell(b.port, detached{});
  b.run();
  CHECK(*b.ended);
}

TEST_CASE("an idle port asks for no time") {
  bench b;
  b.vm_sends({a_frame(1)});
  b.vm_switch.clear();
  b.switch_sends({a_frame(2)});
  CHECK(b.vm_received() == std::vector<int>{2});
  b.advance(1h);
  CHECK(b.counters().drops.total() == 0);
}

} // namespace vmswitch
