#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "vmnet/poll_set.hpp"

namespace vmswitch {

namespace {

constexpr std::array<std::pair<unsigned, std::uint32_t>, 5> translations{{
    {poll_set::readable, EPOLLIN},
    {poll_set::writable, EPOLLOUT},
    {poll_set::urgent, EPOLLPRI},
    {poll_set::error, EPOLLERR},
    {poll_set::hangup, EPOLLHUP},
}};

std::uint32_t to_epoll(unsigned events) {
  std::uint32_t bits = 0;
  for (const auto& [ours, theirs] : translations)
    bits |= (events & ours) != 0 ? theirs : 0;
  return bits;
}

unsigned from_epoll(std::uint32_t bits) {
  unsigned events = 0;
  for (const auto& [ours, theirs] : translations)
    events |= (bits & theirs) != 0 ? ours : 0;
  return events;
}

} // namespace

result<poll_set> poll_set::open() {
  owned_fd set{::epoll_create1(EPOLL_CLOEXEC)};
  if (!set)
    return fail_errno("cannot create a readiness set (epoll_create1)", errno);
  owned_fd timer{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  if (!timer)
    return fail_errno("cannot create a timer (timerfd_create)", errno);
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.fd = timer.get();
  if (::epoll_ctl(set.get(), EPOLL_CTL_ADD, timer.get(), &wanted) != 0)
    return fail_errno("cannot watch a timer (epoll_ctl)", errno);
  return poll_set{std::move(set), std::move(timer)};
}

bool poll_set::change(int watched, unsigned from, unsigned to) noexcept {
  if (from == to)
    return true;
  epoll_event wanted{};
  wanted.events = to_epoll(to);
  wanted.data.fd = watched;
  const int operation = from == 0 ? EPOLL_CTL_ADD : to == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  return ::epoll_ctl(set_.get(), operation, watched, &wanted) == 0;
}

void poll_set::wake_at(std::chrono::steady_clock::time_point when) noexcept {
  using namespace std::chrono;
  const auto since_boot = std::max(when.time_since_epoch(), nanoseconds{1}); // 0 would disarm it
  itimerspec setting{};
  setting.it_value.tv_sec = static_cast<std::time_t>(duration_cast<seconds>(since_boot).count());
  setting.it_value.tv_nsec = static_cast<long>((since_boot % seconds{1}).count());
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &setting, nullptr);
}

poll_set::outcome poll_set::collect(std::span<ready> into) noexcept {
  std::array<epoll_event, 64> events;
  const auto limit = std::min(events.size(), into.size());
  const int found = ::epoll_wait(set_.get(), events.data(), static_cast<int>(limit), 0);
  outcome got;
  for (int i = 0; i < found; ++i) {
    const auto& found_one = events[static_cast<std::size_t>(i)];
    if (found_one.data.fd != timer_.get()) {
      into[got.count++] = {found_one.data.fd, from_epoll(found_one.events)};
      continue;
    }
    std::uint64_t expirations = 0;
    got.timer = ::read(timer_.get(), &expirations, sizeof expirations) == sizeof expirations;
  }
  return got;
}

} // namespace vmswitch
