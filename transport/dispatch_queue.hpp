#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "transport/error.hpp"

namespace vmswitch {

/// Runs tasks on a small, fixed set of threads that sleep in the kernel's readiness call.
///
/// Theory of operation. A task (a pinned actor) is woken with bits, by messages and by file
/// descriptors; it runs on one worker at a time and sees all bits that were set since it last
/// began. A worker runs what is ready, looks at the descriptors now and then, and when nothing is
/// left sleeps in epoll_wait (kevent) itself, so that a readable socket wakes the very thread that
/// will read it. What a task wakes while it runs goes behind it on the same, warm worker.
///
/// Waking threads is what costs, so as few as possible are: one worker at a time polls, others
/// sleep apart and are called when there is more than one worker can do next, or to poll while it
/// does something that takes long. While events follow each other closely a worker lingers before
/// it sleeps. Tasks whose runs take long (`heavy`) wait for those whose runs do not.
///
/// A `serial` queue is one with a single worker: what runs there needs no lock.
///
/// Not here: timers (CAF's delayed messages, timerfd), priorities, growing the set of threads.
class dispatch_queue {
public:
  /// Something that runs on a queue, kept alive by counted references while it is queued, running
  /// or watched. Whoever calls wake() holds one.
  class task {
  public:
    task() noexcept = default;
    task(const task&) = delete;
    task& operator=(const task&) = delete;

    /// Runs on a worker with the bits set since the last run. Must not block.
    virtual void run(std::uint32_t bits) noexcept = 0;
    virtual void retain() noexcept = 0;
    virtual void release() noexcept = 0;

    /// Says whether its runs take long, such as one that moves a lot of data. What does not goes
    /// first: a frame of a quiet VM waits behind one run of a busy one at most.
    void heavy(bool is) noexcept { heavy_.store(is, std::memory_order_relaxed); }

  protected:
    virtual ~task() = default;

  private:
    friend class dispatch_queue;
    std::atomic<std::uint32_t> state_{0}; // bits, and `scheduled` while queued or running
    task* next_ = nullptr;                // while queued
    std::atomic<bool> heavy_{false};
  };

  /// Bits 0-30 are the tasks' own.
  static constexpr std::uint32_t usable_bits = 0x7fff'ffff;

  /// Which bits of a task a descriptor's events set; events without bits are not watched for.
  struct interest {
    std::uint32_t readable = 0;
    std::uint32_t writable = 0;
    std::uint32_t hangup = 0;
  };

  /// Keeps a descriptor watched, and its task alive; gone with it. After destruction the
  /// descriptor wakes nobody.
  class registration {
  public:
    registration() noexcept = default;
    registration(registration&& other) noexcept
        : queue_{std::exchange(other.queue_, nullptr)}, slot_{other.slot_}, fd_{other.fd_} {}
    registration& operator=(registration other) noexcept {
      std::swap(queue_, other.queue_);
      std::swap(slot_, other.slot_);
      std::swap(fd_, other.fd_);
      return *this;
    }
    ~registration() { reset(); }
    /// Must be called before the descriptor is closed.
    void reset() noexcept;
    /// Watches for "writable" or not; initially not. Every read of the peer's makes a socket
    /// writable anew, so whoever is not waiting for that had better not be woken by it. If the
    /// descriptor is writable at this moment, that is told.
    void watch_writable(bool wanted) noexcept;
    explicit operator bool() const noexcept { return queue_ != nullptr; }

  private:
    friend class dispatch_queue;
    dispatch_queue* queue_ = nullptr;
    void* slot_ = nullptr;
    int fd_ = -1;
  };

  /// Starts `workers` threads named `name` (at most 15 characters are kept).
  /// Throws std::system_error when the system has no more threads or descriptors.
  dispatch_queue(std::string name, std::size_t workers);
  /// Calls stop().
  ~dispatch_queue();

  /// Joins all workers after the runs in progress. Tasks still queued are released, not run. Not
  /// to be called on a worker. Wakes that come later are ignored.
  void stop() noexcept;

  /// Sets bits of a task and sees to it that it runs. Thread-safe, callable from a task.
  void wake(task& woken, std::uint32_t bits) noexcept;

  /// Watches `fd` edge-triggered, for all but "writable" (see registration::watch_writable). The
  /// first readiness is reported too.
  /// Thread-safe. The queue must outlive the registration.
  result<registration> watch(int fd, task& owner, interest bits);

  std::size_t workers() const noexcept;
  const std::string& name() const noexcept;
  /// True on a worker thread of this queue.
  bool is_current() const noexcept;

private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

} // namespace vmswitch
