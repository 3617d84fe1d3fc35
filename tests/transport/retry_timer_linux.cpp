#include "transport/retry_timer.hpp"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/timerfd.h>

using namespace vmswitch;
using namespace std::chrono_literals;

namespace {

struct counting_waiter final : retry_timer::waiter {
  void retry() override { ++retries; }
  int retries = 0;
};

bool is_due(const retry_timer& timer, int milliseconds) {
  pollfd waiting{timer.fd(), POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) == 1;
}

bool is_armed(const retry_timer& timer) {
  itimerspec left{};
  REQUIRE(::timerfd_gettime(timer.fd(), &left) == 0);
  return left.it_value.tv_sec != 0 || left.it_value.tv_nsec != 0;
}

} // namespace

TEST_SUITE("retry_timer") {

  TEST_CASE("a waiter is woken once, after its delay and not before") {
    const auto timer = retry_timer::create().value();
    counting_waiter waiter;
    timer->arm(waiter, 1h);
    timer->fire(); // too early
    CHECK(waiter.retries == 0);
    const auto before = retry_timer::clock::now();
    timer->arm(waiter, 2ms);
    REQUIRE(is_due(*timer, 5000));
    CHECK(retry_timer::clock::now() - before >= 2ms);
    timer->fire();
    CHECK(waiter.retries == 1);
    timer->fire();
    CHECK(waiter.retries == 1);
  }

  TEST_CASE("nobody waiting means no wake-up") {
    const auto timer = retry_timer::create().value();
    counting_waiter waiter;
    CHECK_FALSE(is_armed(*timer));
    timer->arm(waiter, 100us);
    REQUIRE(is_due(*timer, 5000));
    timer->fire();
    CHECK_FALSE(is_armed(*timer));
    CHECK_FALSE(is_due(*timer, 0));
    timer->arm(waiter, 1h);
    CHECK(is_armed(*timer));
    timer->cancel(waiter);
    CHECK_FALSE(is_armed(*timer));
    CHECK(timer->waiting() == 0);
  }

  TEST_CASE("each waiter has its own time, the earliest comes first") {
    const auto timer = retry_timer::create().value();
    counting_waiter late;
    counting_waiter early;
    timer->arm(late, 1h);
    timer->arm(early, 100us);
    REQUIRE(is_due(*timer, 5000));
    timer->fire();
    CHECK(early.retries == 1);
    CHECK(late.retries == 0);
    CHECK(timer->waiting() == 1);
    CHECK(is_armed(*timer));
    timer->cancel(late);
  }

  TEST_CASE("a later time replaces an earlier one") {
    const auto timer = retry_timer::create().value();
    counting_waiter waiter;
    timer->arm(waiter, 1h);
    timer->arm(waiter, 100us);
    CHECK(timer->waiting() == 1);
    REQUIRE(is_due(*timer, 5000));
    timer->fire();
    CHECK(waiter.retries == 1);
  }

  TEST_CASE("a waiter that has cancelled is not called, whichever thread fires") {
    const auto timer = retry_timer::create().value();
    std::atomic<bool> done = false;
    std::thread firing{[&] {
      while (!done)
        if (is_due(*timer, 1))
          timer->fire();
    }};
    std::vector<std::thread> waiting;
    for (int t = 0; t < 2; ++t)
      waiting.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          const auto waiter = std::make_unique<counting_waiter>();
          timer->arm(*waiter, 1us * (i % 20));
          timer->cancel(*waiter);
        } // a call after this would be a use after free, or a race on its counter
      });
    for (std::thread& thread : waiting)
      thread.join();
    done = true;
    firing.join();
    CHECK(timer->waiting() == 0);
  }

} // TEST_SUITE
