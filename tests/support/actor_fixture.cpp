#include "tests/support/actor_fixture.hpp"

#if CAF_MAJOR_VERSION < 1

#include <caf/scheduler/test_coordinator.hpp>

namespace vmswitch::test {

namespace {

class test_config : public caf::actor_system_config {
public:
  test_config() {
    register_messages();
    set("scheduler.policy", caf::atom("testing"));
  }
};

} // namespace

struct actor_fixture::implementation {
  test_config config;
  caf::actor_system system{config};
  caf::scheduler::test_coordinator& scheduler =
      dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
};

actor_fixture::actor_fixture() : implementation_{std::make_unique<implementation>()} {}

actor_fixture::~actor_fixture() {
  run();
}

caf::actor_system& actor_fixture::system() {
  return implementation_->system;
}

void actor_fixture::run() {
  while (implementation_->scheduler.try_run_once()) {
  }
}

void actor_fixture::advance(std::chrono::nanoseconds by) {
  run();
  implementation_->scheduler.advance_time(by);
  run();
}

} // namespace vmswitch::test

#else

#include <caf/test/fixture/deterministic.hpp>
#include <caf/test/reporter.hpp>

namespace vmswitch::test {

struct actor_fixture::implementation {
  // Outside CAF's own runner the fixture wants a reporter.
  static void prepare() {
    static const auto reporter = [] {
      register_messages();
      auto made = caf::test::reporter::make_default();
      caf::test::reporter::instance(made.get());
      return made;
    }();
  }
  struct prepared {
    prepared() { prepare(); }
  } first;
  caf::test::fixture::deterministic fixture;
};

actor_fixture::actor_fixture() : implementation_{std::make_unique<implementation>()} {}

actor_fixture::~actor_fixture() {
  run();
}

caf::actor_system& actor_fixture::system() {
  return implementation_->fixture.sys;
}

void actor_fixture::run() {
  implementation_->fixture.dispatch_messages();
}

void actor_fixture::advance(std::chrono::nanoseconds by) {
  run();
  implementation_->fixture.advance_time(by);
  run();
}

} // namespace vmswitch::test

#endif

namespace vmswitch::test {

probe::probe(actor_fixture& fixture) {
  handle = fixture.system().spawn([log = log_](caf::event_based_actor* self) -> caf::behavior {
    return {
        [log](const frames_in& message) { log->in.push_back(message); },
        [log](const frames_out& message) { log->out.push_back(message); },
        [log](const attach_port& message) { log->attaches.push_back(message); },
        [log](const port_note& message) { log->notes.push_back(message); },
        [log](const detach_port& message) { log->detaches.push_back(message); },
        [log](const detached&) { ++log->detached; },
        [log](const counters_report& message) { log->reports.push_back(message); },
        [log](const switch_report& message) { log->switch_reports.push_back(message); },
        [log](const port_finished& message) { log->finished.push_back(message); },
        [log](const port_started& message) { log->started.push_back(message); },
        [self](const stop&) { self->quit(); },
    };
  });
  fixture.run();
}

probe::~probe() {
  tell(handle, stop{});
}

void probe::clear() {
  *log_ = {};
}

} // namespace vmswitch::test
