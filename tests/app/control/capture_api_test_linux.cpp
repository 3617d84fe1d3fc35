#include "app/control/capture_api.hpp"

#include <doctest/doctest.h>
#include <pthread.h>

#include "tests/app/control/answer_sink.hpp"
#include "tests/app/control/snapshots.hpp"
#include "tests/support/child_process.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// While one exists no thread can be started: there is no room for its stack.
class thread_shortage {
public:
  thread_shortage() {
    ::pthread_attr_init(&attributes_);
    ::pthread_getattr_default_np(&attributes_);
    ::pthread_attr_getstacksize(&attributes_, &before_);
    set(std::size_t{1} << 50);
  }
  thread_shortage(const thread_shortage&) = delete;
  thread_shortage& operator=(const thread_shortage&) = delete;
  ~thread_shortage() {
    set(before_);
    ::pthread_attr_destroy(&attributes_);
  }

private:
  void set(std::size_t stack) {
    ::pthread_attr_setstacksize(&attributes_, stack);
    ::pthread_setattr_default_np(&attributes_);
  }
  pthread_attr_t attributes_{};
  std::size_t before_ = 0;
};

struct bench {
  bench() {
    hooks.inspect = [](inspection_scope, auto done) {
      done(std::make_shared<const daemon_snapshot>(lab_snapshot()));
    };
    hooks.start_capture = [this](const std::string&, const std::shared_ptr<capture_tap>&) {
      ++captures;
    };
    hooks.stop_capture = [](const std::string&, std::uint64_t) {};
    api.add_to(routes);
  }
  void ask(const std::string& filter) {
    http_request request;
    request.method = "GET";
    request.path = "/v1/capture";
    request.query.emplace("filter", filter);
    request.role = control_role::full;
    target->last = {0, {}};
    routes.handle(std::move(request), responder{target});
  }

  int captures = 0;
  control_hooks hooks;
  boost::asio::io_context context;
  capture_api api{context, hooks};
  router routes;
  std::shared_ptr<answer_sink> target = std::make_shared<answer_sink>();
};

} // namespace

TEST_SUITE("capture api") {

  TEST_CASE("without a thread to be had a filter is refused for now, and takes no place") {
    bench b;
    {
      const thread_shortage now;
      for (std::size_t i = 0; i <= capture_api::most_compilations; ++i) {
        b.ask("tcp");
        CHECK(b.target->last.status == 503);
        CHECK(b.target->last.body.find("ulimit -u") != std::string::npos);
      }
    }
    b.ask("tcp");
    CHECK(poll_until(
        [&] {
          b.context.restart();
          b.context.poll();
          return b.captures == 1;
        },
        std::chrono::steady_clock::now() + std::chrono::seconds{30}));
  }

} // TEST_SUITE
