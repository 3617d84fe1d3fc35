#include "actors/host/host_actor.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/actor_fixture.hpp"
#include "tests/support/bursts.hpp"

namespace vmswitch {

using namespace std::chrono_literals;
using test::frame;
using test::frames_of;
using test::tagged_frame;
using test::vm_mac;

namespace {

// What a test sees and decides of a backend that the actor owns.
struct script {
  int starts = 0;
  int stops = 0;
  int failing_starts = 0;
  frame_sink* sink = nullptr;
  std::vector<frame> written;
  frame_tally refuse;
  bool fails = false;
  int process_more = 0; // how often process() wants to be called again
  int processed = 0;
};

class scripted_host final : public host_interface {
public:
  explicit scripted_host(std::shared_ptr<script> shared) : script_{std::move(shared)} {}
  result<void> start(frame_sink& out) override {
    ++script_->starts;
    if (script_->failing_starts > 0) {
      --script_->failing_starts;
      return fail("the backend has no licence", EPERM);
    }
    script_->sink = &out;
    return {};
  }
  void stop() noexcept override { ++script_->stops; }
  int fd() const noexcept override { return -1; }
  result<bool> process() override {
    ++script_->processed;
    if (script_->fails)
      return fail("the cable was pulled");
    return script_->process_more-- > 0;
  }
  frame_tally write(const burst& frames) override {
    for (auto& each : frames_of(frames)) {
      // Answers at once, as a NAT does to ARP.
      script_->sink->deliver(tagged_frame(vm_mac(0), vm_mac(9), 77));
      script_->written.push_back(std::move(each));
    }
    return script_->refuse;
  }
  mac_address address() const noexcept override { return {}; }
  std::string describe() const override { return "a scripted host"; }

private:
  std::shared_ptr<script> script_;
};

struct bench : test::actor_fixture {
  explicit bench(int failing_starts = 0) {
    shared->failing_starts = failing_starts;
    supervisor = system().spawn(
        [states = states, changes = changes](caf::event_based_actor* self) -> caf::behavior {
          return {
              [states](const host_state& message) { states->push_back(message); },
              [changes](const part_changed& message) { changes->push_back(message); },
              [self](const stop&) { self->quit(); },
          };
        });
    host = spawn_host(system(), nullptr,
                      {{0, 0},
                       vm_switch.handle,
                       supervisor,
                       std::make_unique<scripted_host>(shared),
                       stock(),
                       1518,
                       {}});
    watch(host, [ended = ended](const caf::error&) { *ended = true; });
    run();
  }
  ~bench() {
    tell(host, stop{});
    tell(host, detached{});
    tell(supervisor, stop{});
    run();
  }
  port_counters counters() {
    vm_switch.seen().reports.clear();
    tell(host, report_counters{vm_switch.handle});
    run();
    REQUIRE(vm_switch.seen().reports.size() == 1);
    return vm_switch.seen().reports[0].counters;
  }

  replace_host replacement(std::uint64_t ticket, std::shared_ptr<script> of) {
    return {ticket,
            std::make_shared<std::unique_ptr<host_interface>>(
                std::make_unique<scripted_host>(std::move(of))),
            {}};
  }

  test::probe vm_switch{*this};
  test::burst_maker make;
  std::shared_ptr<script> shared = std::make_shared<script>();
  std::shared_ptr<std::vector<host_state>> states = std::make_shared<std::vector<host_state>>();
  std::shared_ptr<std::vector<part_changed>> changes =
      std::make_shared<std::vector<part_changed>>();
  std::shared_ptr<bool> ended = std::make_shared<bool>(false);
  caf::actor supervisor;
  caf::actor host;
};

} // namespace

TEST_CASE("the host starts its backend and says so") {
  bench b;
  REQUIRE(b.states->size() == 1);
  CHECK(b.states->at(0).failure.empty());
  CHECK(b.states->at(0).description == "a scripted host");
}

TEST_CASE("sv#7, lima#5074: a backend that cannot start is reported with its reason, at once") {
  bench b{1};
  REQUIRE(b.states->size() == 1);
  CHECK(b.states->at(0).failure == "the backend has no licence");
  REQUIRE(b.vm_switch.seen().detaches.size() == 1);
  tell(b.host, detached{});
  b.run();
  CHECK(*b.ended);
  CHECK(b.shared->stops == 0);
}

TEST_CASE("frames for the host reach the backend, and its answers the switch, in one burst") {
  bench b;
  const std::vector<frame> frames{tagged_frame(vm_mac(9), vm_mac(0), 1),
                                  tagged_frame(vm_mac(9), vm_mac(0), 2)};
  tell(b.host, frames_out{b.make(frames)});
  b.run();
  CHECK(b.shared->written == frames);
  REQUIRE(b.vm_switch.seen().in.size() == 1);
  CHECK(b.vm_switch.seen().in[0].from == port_id{0, 0});
  CHECK(b.vm_switch.seen().in[0].frames.frames() == 2);
  const auto counters = b.counters();
  CHECK(counters.frames_out == 2);
  CHECK(counters.frames_in == 2);
}

TEST_CASE("frames that the backend refuses are counted") {
  bench b;
  b.shared->refuse = {1, 60};
  tell(b.host, frames_out{b.make(tagged_frame(vm_mac(9), vm_mac(0), 1))});
  b.run();
  CHECK(b.counters().drops[drop_reason::host_refused] == 1);
  CHECK(b.counters().frames_out == 0);
  CHECK(b.counters().bytes_out == 0);
}

TEST_CASE("frames from the backend that no network could carry are dropped and counted") {
  bench b;
  CHECK_FALSE(b.shared->sink->deliver(frame(13)));
  CHECK_FALSE(b.shared->sink->deliver(frame(1519)));
  CHECK(b.shared->sink->deliver(frame(1518)));
  CHECK(b.counters().drops[drop_reason::runt] == 1);
  CHECK(b.counters().drops[drop_reason::oversize] == 1);
}

TEST_CASE("a backend may write frames in place; what no network could carry is counted") {
  bench b;
  const auto write = [&](const frame& bare) {
    const auto room = b.shared->sink->room();
    REQUIRE(room.size() == 1519); // one more, so that a frame that is too long shows
    std::copy(bare.begin(), bare.end(), room.begin());
    return b.shared->sink->commit(bare.size());
  };
  const auto right = tagged_frame(vm_mac(9), vm_mac(0), 5);
  CHECK(write(right));
  CHECK_FALSE(write(frame(13)));
  CHECK_FALSE(write(frame(1519)));
  CHECK(write(right));
  tell(b.host, link_ready{{.readable = true}});
  b.run();
  REQUIRE(b.vm_switch.seen().in.size() == 1);
  CHECK(frames_of(b.vm_switch.seen().in[0].frames) == std::vector<frame>{right, right});
  CHECK(b.counters().drops[drop_reason::runt] == 1);
  CHECK(b.counters().drops[drop_reason::oversize] == 1);
  CHECK(b.counters().frames_in == 2);
}

TEST_CASE("a backend finds no room for a frame in place when the budget is out") {
  bench b;
  while (b.shared->sink->deliver(frame(1518))) {
  }
  CHECK(b.shared->sink->room().empty());
  b.run();
  b.vm_switch.clear();
  CHECK_FALSE(b.shared->sink->room().empty());
}

TEST_CASE("why a backend cannot start is told with its errno, for the exit code") {
  bench b{1};
  REQUIRE(b.states->size() == 1);
  CHECK(b.states->at(0).code == EPERM);
}

TEST_CASE("a backend that sends more than the budget loses frames, and is told to hold back") {
  bench b;
  CHECK(b.shared->sink->has_room());
  int delivered = 0;
  while (b.shared->sink->deliver(frame(1518)) && delivered < 10'000)
    ++delivered;
  CHECK(delivered < 10'000); // nothing has run meanwhile: all slabs are on their way
  CHECK_FALSE(b.shared->sink->has_room());
  CHECK(b.counters().drops[drop_reason::ingress_exhausted] == 1);
  b.run();
  b.vm_switch.clear();
  CHECK(b.shared->sink->has_room());
}

TEST_CASE("a backend with more to do is called again") {
  bench b;
  b.shared->process_more = 3;
  tell(b.host, link_ready{{.readable = true}});
  b.run();
  CHECK(b.shared->processed == 4);
}

TEST_CASE("a backend that has more but no memory goes on when memory comes back") {
  bench b;
  while (b.shared->sink->deliver(frame(1518))) {
  }
  b.shared->process_more = 1;
  tell(b.host, link_ready{{.readable = true}});
  b.run(); // the switch has all slabs now
  CHECK(b.shared->processed == 1);
  b.vm_switch.clear();
  b.run();
  CHECK(b.shared->processed == 2);
}

TEST_CASE("a backend that fails is started again, after longer and longer pauses") {
  bench b;
  b.shared->fails = true;
  tell(b.host, link_ready{{.readable = true}});
  b.run();
  REQUIRE(b.states->size() == 2);
  CHECK(b.states->at(1).failure == "the cable was pulled");
  CHECK(b.shared->stops == 1);
  tell(b.host, frames_out{b.make(tagged_frame(vm_mac(9), vm_mac(0), 1))});
  b.run();
  CHECK(b.counters().drops[drop_reason::host_refused] == 1);
  b.shared->failing_starts = 1;
  b.advance(999ms);
  CHECK(b.shared->starts == 1);
  b.advance(1ms);
  CHECK(b.shared->starts == 2); // in vain
  b.advance(1999ms);
  CHECK(b.shared->starts == 2);
  b.shared->fails = false;
  b.advance(1ms);
  CHECK(b.shared->starts == 3);
  CHECK(b.states->back().failure.empty());
  tell(b.host, frames_out{b.make(tagged_frame(vm_mac(9), vm_mac(0), 1))});
  b.run();
  CHECK(b.shared->written.size() == 1);
}

TEST_CASE("the host is detached first and takes its backend down on the way") {
  bench b;
  tell(b.host, stop{});
  b.run();
  CHECK(b.shared->stops == 1);
  CHECK_FALSE(*b.ended);
  tell(b.host, frames_out{b.make(tagged_frame(vm_mac(9), vm_mac(0), 1))});
  b.run();
  CHECK(b.counters().drops[drop_reason::port_closed] == 1);
  tell(b.host, detached{});
  b.run();
  CHECK(*b.ended);
  CHECK(b.shared->stops == 1);
}

TEST_CASE("another host interface takes the place of the running one") {
  bench b;
  const auto other = std::make_shared<script>();
  tell(b.host, b.replacement(7, other));
  b.run();
  REQUIRE(b.changes->size() == 1);
  CHECK(b.changes->at(0).ticket == 7);
  CHECK(b.changes->at(0).failure.empty());
  CHECK(b.shared->stops == 1);
  CHECK(other->starts == 1);
  tell(b.host, frames_out{b.make(tagged_frame(vm_mac(9), vm_mac(0), 1))});
  b.run();
  CHECK(b.shared->written.empty());
  CHECK(other->written.size() == 1);
  CHECK(b.vm_switch.seen().detaches.empty()); // the port is the same
}

TEST_CASE("if another host interface cannot start the old one goes on") {
  bench b;
  const auto other = std::make_shared<script>();
  other->failing_starts = 1;
  tell(b.host, b.replacement(7, other));
  b.run();
  REQUIRE(b.changes->size() == 1);
  CHECK(b.changes->at(0).failure == "the backend has no licence");
  CHECK(b.shared->starts == 2);
  tell(b.host, frames_out{b.make(tagged_frame(vm_mac(9), vm_mac(0), 1))});
  b.run();
  CHECK(b.shared->written.size() == 1);
}

TEST_CASE("if the old host interface cannot start again either it is tried later") {
  bench b;
  const auto other = std::make_shared<script>();
  other->failing_starts = 1;
  b.shared->failing_starts = 1;
  tell(b.host, b.replacement(7, other));
  b.run();
  CHECK(b.states->back().failure == "the backend has no licence");
  b.advance(1s);
  CHECK(b.states->back().failure.empty());
  CHECK(b.shared->starts == 3);
}

TEST_CASE("a host interface that is down and is replaced comes up with the other one") {
  bench b;
  b.shared->fails = true;
  tell(b.host, link_ready{{.readable = true}});
  b.run();
  const auto other = std::make_shared<script>();
  tell(b.host, b.replacement(7, other));
  b.run();
  CHECK(other->starts == 1);
  b.advance(1min);
  CHECK(other->starts == 1); // the restart that was due found it up
  CHECK(b.shared->starts == 1);
}

TEST_CASE("the host's settings are adjusted on its own thread, and that is answered") {
  bench b;
  std::string seen;
  tell(b.host, adjust_host{3, [&](host_interface& host) { seen = host.describe(); }, {}});
  b.run();
  CHECK(seen == "a scripted host");
  REQUIRE(b.changes->size() == 1);
  CHECK(b.changes->at(0).ticket == 3);
}

TEST_CASE("a larger slab budget holds for a host that waits for memory") {
  bench b;
  network_limits more;
  more.slab_budget = 64;
  b.shared->process_more = 1;
  // Fill half of the budget: the backend is told to hold back.
  while (b.shared->sink->has_room())
    b.shared->sink->deliver(tagged_frame(vm_mac(0), vm_mac(9), 1, 1514));
  tell(b.host, link_ready{{.readable = true}});
  b.run();
  const auto before = b.shared->processed;
  tell(b.host, change_limits{0, more});
  b.run();
  CHECK(b.shared->sink->has_room());
  CHECK(b.shared->processed > before);
}

} // namespace vmswitch
