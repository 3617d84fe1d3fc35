#include "transport/readiness_poller.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "transport/owned_fd.hpp"

namespace vmswitch {

namespace {

epoll_event epoll_request(void* tag, readiness_poller::wanted events) {
  epoll_event request{};
  request.events = EPOLLRDHUP | EPOLLET;
  if (events.readable)
    request.events |= EPOLLIN;
  if (events.writable)
    request.events |= EPOLLOUT;
  request.data.ptr = tag;
  return request;
}

} // namespace

struct readiness_poller::implementation {
  owned_fd epoll;
  owned_fd interrupter; // an eventfd whose tag is null
};

readiness_poller::readiness_poller() : implementation_{std::make_unique<implementation>()} {
  auto& self = *implementation_;
  self.epoll.reset(::epoll_create1(EPOLL_CLOEXEC));
  self.interrupter.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // Edge-triggered and never read: each write is one more edge, for one more thread.
  epoll_event request{};
  request.events = EPOLLIN | EPOLLET;
  if (!self.epoll || !self.interrupter ||
      ::epoll_ctl(self.epoll.get(), EPOLL_CTL_ADD, self.interrupter.get(), &request) != 0)
    throw std::system_error{errno, std::system_category(), "cannot create an epoll descriptor"};
}

readiness_poller::~readiness_poller() = default;

result<void> readiness_poller::add(int fd, void* tag, wanted events) {
  auto request = epoll_request(tag, events);
  if (::epoll_ctl(implementation_->epoll.get(), EPOLL_CTL_ADD, fd, &request) != 0)
    return fail_errno("cannot watch a descriptor", errno);
  return {};
}

void readiness_poller::change(int fd, void* tag, wanted events) noexcept {
  auto request = epoll_request(tag, events);
  ::epoll_ctl(implementation_->epoll.get(), EPOLL_CTL_MOD, fd, &request);
}

void readiness_poller::remove(int fd) noexcept {
  ::epoll_ctl(implementation_->epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
}

std::size_t readiness_poller::wait(std::span<event> events, bool block,
                                   bool& interrupted) noexcept {
  std::array<epoll_event, 64> fetched;
  const int limit = static_cast<int>(std::min(events.size(), fetched.size()));
  const int count =
      ::epoll_wait(implementation_->epoll.get(), fetched.data(), limit, block ? -1 : 0);
  std::size_t filled = 0;
  for (int i = 0; i < count; ++i) {
    const auto& from = fetched[static_cast<std::size_t>(i)];
    if (from.data.ptr == nullptr) {
      interrupted = true;
      continue;
    }
    const bool broken = (from.events & (EPOLLHUP | EPOLLERR)) != 0;
    events[filled++] = {from.data.ptr,
                        {.readable = (from.events & EPOLLIN) != 0 || broken,
                         .writable = (from.events & EPOLLOUT) != 0 || broken,
                         .hangup = (from.events & EPOLLRDHUP) != 0 || broken}};
  }
  return filled;
}

void readiness_poller::interrupt() noexcept {
  // The counter cannot overflow in practice (2^64 - 2), and nobody reads it.
  ::eventfd_write(implementation_->interrupter.get(), 1);
}

} // namespace vmswitch
