#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// Many descriptors and one timer behind a single descriptor (epoll in epoll, kqueue in kqueue).
///
/// Level-triggered inside: what is not dealt with is collected again. fd() becomes readable when
/// something inside becomes ready; a watcher of its edges must collect until nothing comes.
/// Used by one thread at a time; nothing here blocks.
class poll_set {
public:
  enum event : unsigned {
    readable = 1,
    writable = 2,
    urgent = 4,
    error = 8,   // collected whether asked for or not
    hangup = 16, // likewise
  };
  struct ready {
    int fd;
    unsigned events;
  };

  static result<poll_set> open();

  int fd() const noexcept { return set_.get(); }

  /// Changes what `watched` is watched for; 0 means not at all. `from` is what it was until now.
  /// False if the system refused, after which it is watched for `from` still.
  bool change(int watched, unsigned from, unsigned to) noexcept;

  /// Sets the timer, in place of its earlier time. A time that has passed fires at once.
  void wake_at(std::chrono::steady_clock::time_point when) noexcept;

  struct outcome {
    std::size_t count = 0; ///< of `into`
    bool timer = false;    ///< the timer has fired; it is not set any more
  };
  /// Takes what is ready now, at most into.size() descriptors.
  outcome collect(std::span<ready> into) noexcept;

private:
  poll_set(owned_fd set, owned_fd timer) noexcept
      : set_{std::move(set)}, timer_{std::move(timer)} {}

  owned_fd set_;
  owned_fd timer_; // part of the set itself on systems whose sets have timers
};

} // namespace vmswitch
