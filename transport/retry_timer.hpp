#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// Wakes what waits for something that no descriptor reports, such as room at a datagram peer.
///
/// Each waiter is woken once, when its own delay is over. While nobody waits the timer is disarmed
/// and wakes nobody. `arm` and `cancel` may be called on any thread, `fire` on the thread that
/// watches fd(); one lock orders them, and it is held while waiters are woken, so that a waiter
/// that has cancelled is not being called.
class retry_timer {
public:
  using clock = std::chrono::steady_clock;

  class waiter {
  public:
    /// Called with the timer's lock held: must only send or wake.
    virtual void retry() = 0;

  protected:
    ~waiter() = default;
  };

  static result<std::unique_ptr<retry_timer>> create();

  /// Readable when fire() is due.
  int fd() const noexcept { return timer_.get(); }

  /// Wakes `who` after `delay`, in place of an earlier time asked for. It must cancel before it is
  /// destroyed.
  void arm(waiter& who, std::chrono::microseconds delay);
  void cancel(waiter& who) noexcept;

  /// Wakes all whose time has come.
  void fire();

  /// Waiters not yet woken.
  std::size_t waiting() const;

private:
  struct entry {
    waiter* who;
    clock::time_point due;
  };

  explicit retry_timer(owned_fd timer) : timer_{std::move(timer)} {}
  void set(); // for the earliest entry; lock held

  const owned_fd timer_;
  mutable std::mutex mutex_;
  std::vector<entry> entries_;  // guarded by mutex_; one a waiter
  clock::time_point set_for_{}; // guarded by mutex_; the epoch while disarmed
};

} // namespace vmswitch
