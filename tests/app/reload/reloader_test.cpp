#include "app/reload/reloader.hpp"

#include <optional>

#include <doctest/doctest.h>

#include "tests/app/reload/plan_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

daemon_settings networks(const std::vector<std::string>& names) {
  daemon_settings settings;
  for (const auto& name : names) {
    auto& network = settings.networks.emplace_back();
    network.name = network.host.name = name;
    network.listeners.push_back({listen_type::stream, "/run/" + name, {}, {}});
  }
  return settings;
}

// A reloader whose file and whose daemon are the test's.
struct bench {
  using done_function = std::function<void(result<void>)>;

  boost::asio::io_context context;
  tl::expected<daemon_settings, std::vector<std::string>> file = networks({"a"});
  std::vector<std::string> performed;
  std::optional<done_function> pending; // of an action that is not answered at once
  bool answers = true;
  result<void> outcome;
  int loads = 0, begins = 0;
  std::vector<reload_report> ends;
  std::vector<reload_report> reports;
  reloader under_test{context,
                      networks({"a"}),
                      [this] {
                        ++loads;
                        return file;
                      },
                      [this](const reload_action& action, done_function done) {
                        performed.push_back(action.text);
                        if (answers)
                          done(outcome);
                        else
                          pending = std::move(done);
                      },
                      [this] { ++begins; },
                      [this](const reload_report& report) { ends.push_back(report); }};

  void run() {
    context.restart();
    context.poll();
  }
  void reload() {
    under_test.reload([this](const reload_report& report) { reports.push_back(report); });
    run();
  }
};

std::vector<std::string> texts_of(const reload_report& report) {
  std::vector<std::string> texts;
  for (const auto& each : report.steps)
    texts.push_back(each.text);
  return texts;
}

} // namespace

TEST_SUITE("reloader") {

  TEST_CASE("what differs is done, step by step, and is in effect then") {
    bench b;
    b.file = networks({"b", "c"});
    b.answers = false;
    b.reload();
    CHECK(b.performed.size() == 1);
    CHECK(b.begins == 1);
    for (std::size_t step = 1; step <= 3; ++step) {
      REQUIRE(b.performed.size() == step);
      CHECK(b.reports.empty());
      (*b.pending)({});
      b.run();
    }
    REQUIRE(b.reports.size() == 1);
    CHECK(b.reports[0].ok());
    CHECK(texts_of(b.reports[0]) == b.performed);
    CHECK(b.ends.size() == 1);
    CHECK(ordered(b.under_test.settings()) == ordered(*b.file));
    b.reload();
    CHECK(b.performed.size() == 3);
    CHECK(summary(b.reports[1]) == "the configuration is in effect already");
  }

  TEST_CASE("a dry run says what would be done, which is what is done then, and does nothing") {
    bench b;
    b.file = networks({"b"});
    b.file->workers = 7;
    b.under_test.dry_run([&](const reload_report& report) { b.reports.push_back(report); });
    b.run();
    REQUIRE(b.reports.size() == 1);
    CHECK(b.performed.empty());
    CHECK(b.begins + b.ends.size() == 0);
    CHECK(summary(b.reports[0]) == "2 change(s) to make, 1 need(s) a restart");
    b.reload();
    CHECK(texts_of(b.reports[0]) == b.performed);
    CHECK(texts_of(b.reports[0]) == texts_of(b.reports[1]));
    CHECK(b.reports[1].held.size() == 1);
  }

  TEST_CASE("a configuration with mistakes changes nothing, and all of them are told") {
    bench b;
    b.file = tl::unexpected{std::vector<std::string>{"one", "two"}};
    b.reload();
    REQUIRE(b.reports.size() == 1);
    CHECK(b.reports[0].errors == std::vector<std::string>{"one", "two"});
    CHECK(b.performed.empty());
    CHECK(b.under_test.settings() == networks({"a"}));
    CHECK(b.ends.size() == 1); // who heard that it begins hears that it is over
  }

  TEST_CASE("what fails leaves the old state, the rest is done, and the next reload tries again") {
    bench b;
    b.file = networks({"b"});
    b.answers = false;
    b.reload();
    (*b.pending)(fail("it hangs"));
    b.run();
    REQUIRE(b.performed.size() == 2);
    (*b.pending)({});
    b.run();
    REQUIRE(b.reports.size() == 1);
    CHECK(b.reports[0].failures() == 1);
    CHECK(b.reports[0].steps[0].failure == "it hangs");
    CHECK(b.reports[0].steps[1].failure.empty());
    CHECK(ordered(b.under_test.settings()) == networks({"a", "b"}));
    b.answers = true;
    b.reload();
    CHECK(b.under_test.settings() == networks({"b"}));
  }

  TEST_CASE("requests wait for each other; signals that wait are one") {
    bench b;
    b.answers = false;
    b.file = networks({"a", "b"});
    b.reload();
    REQUIRE(b.pending);
    for (int i = 0; i < 100; ++i)
      b.under_test.reload({});
    b.under_test.dry_run([&](const reload_report& report) { b.reports.push_back(report); });
    b.run();
    CHECK(b.loads == 1);
    (*b.pending)({});
    b.run();
    CHECK(b.loads == 3);
    REQUIRE(b.reports.size() == 2);
    CHECK(b.reports[1].steps.empty()); // behind the others, so that there is nothing left to do
    CHECK(b.ends.size() == 2);
  }

  TEST_CASE("too many requests are refused") {
    bench b;
    b.answers = false;
    b.file = networks({"a", "b"});
    b.reload();
    for (std::size_t i = 0; i < reloader::most_waiting; ++i)
      b.reload();
    CHECK(b.reports.empty());
    b.reload();
    REQUIRE(b.reports.size() == 1);
    CHECK(b.reports[0].errors.size() == 1);
    (*b.pending)({});
    b.run();
    CHECK(b.reports.size() == reloader::most_waiting + 2);
  }

  TEST_CASE("stopped in the middle no action begins any more, and who waits is told") {
    bench b;
    b.answers = false;
    b.file = networks({"b"});
    b.reload();
    b.reload();
    b.under_test.stop();
    CHECK(b.reports.size() == 2);
    CHECK(b.reports[0].errors == std::vector<std::string>{"the daemon stops"});
    (*b.pending)({});
    b.run();
    CHECK(b.performed.size() == 1);
    b.reload();
    CHECK(b.reports.size() == 3);
    CHECK(b.loads == 1);
  }

} // TEST_SUITE
