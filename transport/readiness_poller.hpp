#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "transport/error.hpp"
#include "transport/link.hpp"

namespace vmswitch {

/// The kernel's readiness call (epoll, kqueue), edge-triggered, shared by the workers of one
/// dispatch queue. All functions are thread-safe; each event wakes one waiting thread.
class readiness_poller {
public:
  struct event {
    void* tag;
    readiness ready;
  };

  /// Throws std::system_error when the system has no descriptors left.
  readiness_poller();
  ~readiness_poller();

  /// What to watch a descriptor for; a hang-up is always told.
  struct wanted {
    bool readable = false;
    bool writable = false;
  };
  /// Watches `fd` until it is removed. `tag` comes back with its events; events that another thread
  /// has already fetched may still arrive after remove().
  result<void> add(int fd, void* tag, wanted events);
  /// Watches for other events. What is ready at this moment is told, too.
  void change(int fd, void* tag, wanted events) noexcept;
  void remove(int fd) noexcept;

  /// Fills `events` and returns how many. Waits for the first one, or for interrupt(), if `block`.
  /// Says in `interrupted` whether that was called: one thread is told of each call.
  std::size_t wait(std::span<event> events, bool block, bool& interrupted) noexcept;

  /// Lets one wait() that blocks now, or the next that would, return. Several calls may have the
  /// effect of one.
  void interrupt() noexcept;

private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

} // namespace vmswitch
