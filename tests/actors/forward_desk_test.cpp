#include "actors/network/forward_desk.hpp"

#include <cerrno>
#include <optional>

#include <doctest/doctest.h>

#include "tests/support/actor_fixture.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

// A desk, and a network that answers when it is told to.
struct bench : actor_fixture {
  bench() {
    network = system().spawn([this](caf::event_based_actor* self) -> caf::behavior {
      return {
          [this](const forward_add& message) { added.push_back(message); },
          [this](const forward_remove& message) { removed.push_back(message); },
          [self](const stop&) { self->quit(); },
      };
    });
    desk = spawn_forward_desk(system());
    tell(desk, watch_networks{{{"lab", network}}});
    run();
  }
  ~bench() {
    tell(desk, stop{});
    tell(network, stop{});
    run();
  }
  void order(std::variant<forward_rule, forward_listen> what, const char* to = "lab") {
    tell(desk, forward_order{to, std::move(what), "pid 1, uid 0",
                             [this](const result<void>& done) { outcomes.push_back(done); }});
    run();
  }
  void answer(std::uint64_t tag, const char* failure = "", int code = 0) {
    tell(desk, forward_answer{tag, failure, code});
    run();
  }

  const forward_rule rule = parse_forward("80 -> web")->front();
  caf::actor network;
  caf::actor desk;
  std::vector<forward_add> added;
  std::vector<forward_remove> removed;
  std::vector<result<void>> outcomes;
};

} // namespace

TEST_CASE("an order goes to its network with its sender's name, and the answer comes back to it") {
  bench b;
  b.order(b.rule);
  b.order(b.rule.listen);
  REQUIRE(b.added.size() == 1);
  REQUIRE(b.removed.size() == 1);
  CHECK(b.added[0].rule == b.rule);
  CHECK(b.added[0].by == "pid 1, uid 0");
  CHECK(b.removed[0].listen == b.rule.listen);
  CHECK(b.removed[0].by == "pid 1, uid 0");
  CHECK(b.outcomes.empty());
  b.answer(b.removed[0].tag, "there is none", ENOENT);
  REQUIRE(b.outcomes.size() == 1);
  CHECK(b.outcomes[0].error().code == ENOENT);
  b.answer(b.added[0].tag);
  b.answer(b.added[0].tag); // once is enough
  REQUIRE(b.outcomes.size() == 2);
  CHECK(b.outcomes[1]);
}

TEST_CASE("an order for a network that is not there is refused at once") {
  bench b;
  b.order(b.rule, "none");
  REQUIRE(b.outcomes.size() == 1);
  CHECK(b.outcomes[0].error().code == ENXIO);
  CHECK(b.added.empty());
}

TEST_CASE("a network that does not answer is waited for three seconds, and then not any more") {
  bench b;
  b.order(b.rule);
  b.advance(2999ms);
  CHECK(b.outcomes.empty());
  b.advance(1ms);
  REQUIRE(b.outcomes.size() == 1);
  CHECK(b.outcomes[0].error().code == ETIMEDOUT);
  b.answer(b.added[0].tag); // too late, and of no harm
  CHECK(b.outcomes.size() == 1);
}

TEST_CASE("orders that are open at the end are told so") {
  bench b;
  b.order(b.rule);
  tell(b.desk, stop{});
  b.run();
  REQUIRE(b.outcomes.size() == 1);
  CHECK(b.outcomes[0].error().code == ECANCELED);
}
