#include "transport/retry_timer.hpp"

#include <algorithm>

#include <cerrno>
#include <cstdint>

#include <sys/timerfd.h>
#include <unistd.h>

namespace vmswitch {

result<std::unique_ptr<retry_timer>> retry_timer::create() {
  owned_fd timer{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
  if (!timer)
    return fail_errno("cannot make a timer", errno);
  return std::unique_ptr<retry_timer>{new retry_timer{std::move(timer)}};
}

void retry_timer::arm(waiter& who, std::chrono::microseconds delay) {
  const std::lock_guard lock{mutex_};
  std::erase_if(entries_, [&](const entry& e) { return e.who == &who; });
  entries_.push_back({&who, clock::now() + delay});
  set();
}

void retry_timer::cancel(waiter& who) noexcept {
  const std::lock_guard lock{mutex_};
  if (std::erase_if(entries_, [&](const entry& e) { return e.who == &who; }) > 0)
    set();
}

void retry_timer::fire() {
  const std::lock_guard lock{mutex_};
  if (entries_.empty())
    return; // and so disarmed
  std::uint64_t expirations = 0;
  [[maybe_unused]] const auto drained = ::read(fd(), &expirations, sizeof expirations);
  const auto now = clock::now();
  const auto later =
      std::partition(entries_.begin(), entries_.end(), [&](const entry& e) { return e.due > now; });
  for (auto due = later; due != entries_.end(); ++due)
    due->who->retry();
  entries_.erase(later, entries_.end());
  set_for_ = {}; // it may have expired, and is to be set anew in any case
  set();
}

std::size_t retry_timer::waiting() const {
  const std::lock_guard lock{mutex_};
  return entries_.size();
}

void retry_timer::set() {
  clock::time_point earliest{};
  for (const entry& e : entries_)
    if (earliest == clock::time_point{} || e.due < earliest)
      earliest = e.due;
  if (earliest == set_for_)
    return;
  set_for_ = earliest;
  // steady_clock is CLOCK_MONOTONIC; zero disarms.
  const auto since_boot = earliest.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(seconds.count());
  when.it_value.tv_nsec = static_cast<long>(std::chrono::nanoseconds{since_boot - seconds}.count());
  ::timerfd_settime(fd(), TFD_TIMER_ABSTIME, &when, nullptr);
}

} // namespace vmswitch
