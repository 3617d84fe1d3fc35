#include "transport/readable_set.hpp"

#include <algorithm>
#include <array>

#include <cerrno>

#include <sys/epoll.h>

namespace vmswitch {

result<readable_set> readable_set::create() {
  owned_fd set{::epoll_create1(EPOLL_CLOEXEC)};
  if (!set)
    return fail_errno("cannot make an epoll descriptor", errno);
  return readable_set{std::move(set)};
}

bool readable_set::add(int fd, std::uint64_t tag) noexcept {
  epoll_event wanted{};
  wanted.events = EPOLLIN; // level-triggered: what one call leaves is found by the next
  wanted.data.u64 = tag;
  return ::epoll_ctl(set_.get(), EPOLL_CTL_ADD, fd, &wanted) == 0;
}

void readable_set::remove(int fd) noexcept {
  ::epoll_ctl(set_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

std::size_t readable_set::ready(std::span<std::uint64_t> tags) noexcept {
  std::array<epoll_event, 64> events;
  const int limit = static_cast<int>(std::min(tags.size(), events.size()));
  const int count = ::epoll_wait(set_.get(), events.data(), limit, 0);
  const auto found = static_cast<std::size_t>(std::max(count, 0));
  for (std::size_t i = 0; i < found; ++i)
    tags[i] = events[i].data.u64;
  return found;
}

} // namespace vmswitch
