#include "actors/inspect/inspector_actor.hpp"

#include <doctest/doctest.h>

#include "tests/support/actor_fixture.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

// An inspector, and a network that answers when it is told to.
struct bench : actor_fixture {
  bench() {
    network = system().spawn([this](caf::event_based_actor* self) -> caf::behavior {
      return {
          [this](const inspect_network& message) { asked.push_back(message); },
          [self](const stop&) { self->quit(); },
      };
    });
    inspector = spawn_inspector(system());
    tell(inspector, watch_networks{{{"lab", network}}});
    run();
  }
  ~bench() {
    tell(inspector, stop{});
    tell(network, stop{});
    run();
  }
  void ask(inspection_scope scope = {}) {
    tell(inspector, inspect{scope, [this](std::shared_ptr<const daemon_snapshot> seen) {
                              pictures.push_back(std::move(seen));
                            }});
    run();
  }
  void answer(std::size_t question) {
    network_report report;
    report.about = asked.at(question).about;
    report.self.name = "lab";
    tell(asked[question].to, report);
    run();
  }

  caf::actor network;
  caf::actor inspector;
  std::vector<inspect_network> asked;
  std::vector<std::shared_ptr<const daemon_snapshot>> pictures;
};

} // namespace

TEST_CASE("who looks in gets a picture as soon as all have answered") {
  bench b;
  b.ask();
  REQUIRE(b.asked.size() == 1);
  CHECK(b.pictures.empty());
  b.answer(0);
  REQUIRE(b.pictures.size() == 1);
  CHECK(b.pictures[0]->networks[0].silent.empty());
}

TEST_CASE("a part that does not answer holds nobody up for longer than 300 ms") {
  bench b;
  b.ask();
  b.advance(299ms);
  CHECK(b.pictures.empty());
  b.advance(1ms);
  REQUIRE(b.pictures.size() == 1);
  CHECK(b.pictures[0]->networks[0].silent.size() == 1);
  b.answer(0); // too late, and of no harm
  b.advance(1s);
  b.ask();
  b.answer(1);
  REQUIRE(b.pictures.size() == 2);
  CHECK(b.pictures[1]->networks[0].silent.empty());
}

TEST_CASE("any number of askers cost one round, and see nothing from before they asked") {
  bench b;
  b.ask();
  for (int i = 0; i < 100; ++i)
    b.ask({.macs = i == 50});
  CHECK(b.asked.size() == 1);
  b.answer(0);
  CHECK(b.pictures.size() == 1);
  b.advance(20ms);
  REQUIRE(b.asked.size() == 2);
  CHECK(b.asked[1].scope.macs); // what any of them wants
  CHECK_FALSE(b.asked[1].scope.ports);
  b.answer(1);
  CHECK(b.pictures.size() == 101);
}

TEST_CASE("rounds do not begin more often than every 20 ms") {
  bench b;
  b.ask();
  b.answer(0);
  b.ask();
  CHECK(b.asked.size() == 1);
  b.advance(19ms);
  CHECK(b.asked.size() == 1);
  b.advance(1ms);
  CHECK(b.asked.size() == 2);
}

TEST_CASE("an inspector without networks answers at once") {
  bench b;
  tell(b.inspector, watch_networks{});
  b.ask();
  REQUIRE(b.pictures.size() == 1);
  CHECK(b.pictures[0]->networks.empty());
}
