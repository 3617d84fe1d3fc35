#include "transport/dispatch_queue.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/light_first_list.hpp"
#include "transport/readiness_poller.hpp"
#include "transport/thread_name.hpp"

namespace vmswitch {

namespace {

constexpr std::uint32_t scheduled = 0x8000'0000;

// A worker looks at descriptors and at the shared list after each heavy run, and after so many
// others.
constexpr unsigned runs_between_polls = 4;
constexpr std::chrono::microseconds short_wait{50};
// With so many runs waiting behind the present one, a sleeping worker is worth its wake-up.
constexpr std::size_t backlog_worth_a_wakeup = 2;

} // namespace

struct dispatch_queue::implementation {
  using clock = std::chrono::steady_clock;

  // One watched descriptor. Slots live as long as the queue, so that an event which was fetched
  // just before its registration went finds a slot without a task, or wakes its next owner once
  // for nothing.
  struct slot {
    std::mutex mutex;
    task* owner = nullptr;
    interest bits;
  };

  using task_list = intrusive_fifo<task, &task::next_>;

  // State of one worker, touched by its thread only.
  struct worker {
    implementation* queue = nullptr;
    light_first_list<task, &task::next_> local; // woken by what this worker runs: still warm
    bool waits_are_short = false;
  };

  std::string name;
  readiness_poller poller;
  std::vector<std::thread> threads;
  std::size_t worker_count = 0; // = threads.size(), known before the first one runs

  std::mutex mutex;
  std::condition_variable called; // followers wait here
  task_list shared;               // guarded by mutex: woken from elsewhere, or spilled
  std::size_t followers = 0;      // guarded by mutex: workers asleep, not yet called
  std::size_t calls = 0;          // guarded by mutex: to followers, not yet answered
  bool polling = false;           // guarded by mutex: a worker sleeps in the readiness call ...
  bool interrupted = false;       // guarded by mutex: ... and has been called
  bool poller_wanted = false;     // guarded by mutex: a follower is to go and poll
  bool stopping = false;          // guarded by mutex
  std::deque<slot> slots;         // guarded by mutex (growth); addresses are stable
  std::vector<slot*> free_slots;  // guarded by mutex
  std::atomic<std::size_t> sleepers_hint{0}; // followers + polling, to be read without the mutex
  std::atomic<bool> unattended{false};       // nobody polls, and somebody could; without the mutex
  std::atomic<bool> stop_hint{false};

  static thread_local worker* current;

  void push_shared(task& ready) noexcept {
    bool call = false;
    bool interrupt = false;
    const bool accepted = [&] {
      const std::lock_guard lock{mutex};
      if (stopping)
        return false;
      shared.push(ready);
      // One call per sleeper: it counts as awake from here on.
      if (followers > 0) {
        --followers;
        ++calls;
        call = true;
      } else if (polling && !interrupted) {
        interrupted = true;
        interrupt = true;
      }
      count_sleepers();
      return true;
    }();
    if (!accepted)
      ready.release(); // nobody will run it any more; without the mutex, as in stop()
    if (call)
      called.notify_one();
    if (interrupt)
      poller.interrupt();
  }

  // With the mutex.
  void count_sleepers() noexcept {
    sleepers_hint.store(followers + (polling && !interrupted ? 1 : 0), std::memory_order_relaxed);
    unattended.store(!polling && !poller_wanted && followers > 0, std::memory_order_relaxed);
  }

  // Before a heavy run: meanwhile another worker is to look at the descriptors.
  void send_to_poll() noexcept {
    {
      const std::lock_guard lock{mutex};
      if (polling || poller_wanted || followers == 0)
        return;
      poller_wanted = true;
      --followers;
      ++calls;
      count_sleepers();
    }
    called.notify_one();
  }

  void push(task& ready) noexcept {
    worker* here = current;
    if (!here || here->queue != this) {
      push_shared(ready);
    } else if (here->local.size() >= backlog_worth_a_wakeup &&
               sleepers_hint.load(std::memory_order_relaxed) > 0) {
      push_shared(ready);
    } else {
      here->local.push(ready, ready.heavy_.load(std::memory_order_relaxed));
    }
  }

  task* take_shared() noexcept {
    const std::lock_guard lock{mutex};
    return shared.pop();
  }

  void execute(task& running) noexcept {
    const auto bits = running.state_.fetch_and(scheduled, std::memory_order_acq_rel);
    running.run(bits & usable_bits);
    std::uint32_t expected = scheduled;
    if (running.state_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel))
      running.release();
    else
      push(running); // woken while it ran: again, behind the others
  }

  // True if there was anything.
  bool poll(bool block) noexcept {
    std::array<readiness_poller::event, 64> events;
    bool meant_for_sleeper = false;
    const std::size_t count = poller.wait(events, block, meant_for_sleeper);
    if (meant_for_sleeper && !block)
      interrupt_again();
    for (std::size_t i = 0; i < count; ++i) {
      auto& source = *static_cast<slot*>(events[i].tag);
      const readiness ready = events[i].ready;
      const std::lock_guard lock{source.mutex};
      if (!source.owner)
        continue;
      const std::uint32_t bits = (ready.readable ? source.bits.readable : 0) |
                                 (ready.writable ? source.bits.writable : 0) |
                                 (ready.hangup ? source.bits.hangup : 0);
      if (bits != 0)
        wake(*source.owner, bits);
    }
    return count > 0;
  }

  // A worker that only had a look has fetched the event by which the sleeping one was called.
  void interrupt_again() noexcept {
    {
      const std::lock_guard lock{mutex};
      if (!polling || !interrupted)
        return;
    }
    poller.interrupt();
  }

  // Looks for work a little longer before the worker sleeps, if there was so little time between
  // the last work and the one before that to be woken would have cost more: then traffic flows.
  // Yields meanwhile, since who has the next frame to send may wait for this very core.
  bool linger(worker& self, clock::time_point begin) noexcept {
    if (!self.waits_are_short)
      return false;
    const auto end = begin + short_wait;
    do {
      std::this_thread::yield();
      if (poll(false) || has_shared())
        return true;
    } while (clock::now() < end);
    return false;
  }

  bool has_shared() noexcept {
    const std::lock_guard lock{mutex};
    return !shared.empty() || stopping;
  }

  void wake(task& woken, std::uint32_t bits) noexcept {
    const auto before = woken.state_.fetch_or(bits | scheduled, std::memory_order_acq_rel);
    if ((before & scheduled) != 0)
      return;
    woken.retain();
    push(woken);
  }

  // Sleeps unless there is something to do: one worker in the readiness call, the others until they
  // are called. Were all of them in it, each frame that comes while a port is served would wake
  // another worker to no use: with one frame per write that cost half of the throughput.
  void sleep(worker& self) noexcept {
    const auto begin = clock::now();
    if (linger(self, begin))
      return;
    std::unique_lock lock{mutex};
    if (!shared.empty() || stopping)
      return;
    const bool sent = std::exchange(poller_wanted, false);
    const bool last_awake = followers + 1 == worker_count;
    if (polling || !(sent || last_awake)) {
      ++followers;
      count_sleepers();
      called.wait(lock, [this] { return calls > 0 || stopping; });
      if (calls > 0)
        --calls;
      return;
    }
    polling = true;
    interrupted = false;
    count_sleepers();
    lock.unlock();
    poll(true);
    self.waits_are_short = clock::now() - begin < short_wait;
    lock.lock();
    polling = false;
    count_sleepers();
  }

  void work() {
    worker self;
    self.queue = this;
    current = &self;
    name_this_thread(name);
    unsigned runs = 0;
    bool look_again = false;
    while (!stop_hint.load(std::memory_order_relaxed)) {
      task* next = nullptr;
      if (look_again) {
        look_again = false;
        poll(false);
        next = take_shared();
      }
      if (!next)
        next = self.local.pop();
      if (!next)
        next = take_shared();
      if (next) {
        const bool heavy = next->heavy_.load(std::memory_order_relaxed);
        look_again = ++runs % runs_between_polls == 0 || heavy;
        if (heavy && unattended.load(std::memory_order_relaxed))
          send_to_poll();
        execute(*next);
      } else {
        sleep(self);
      }
    }
    poller.interrupt(); // two calls may have been one event: each that leaves wakes the next
    while (task* left = self.local.pop())
      left->release();
    current = nullptr;
  }
};

thread_local dispatch_queue::implementation::worker* dispatch_queue::implementation::current =
    nullptr;

dispatch_queue::dispatch_queue(std::string name, std::size_t workers)
    : implementation_{std::make_unique<implementation>()} {
  assert(workers > 0);
  auto& self = *implementation_;
  self.name = std::move(name);
  self.worker_count = workers;
  try {
    for (std::size_t i = 0; i < workers; ++i)
      self.threads.emplace_back([&self] { self.work(); });
  } catch (...) {
    stop(); // those that have started
    throw;
  }
}

dispatch_queue::~dispatch_queue() {
  stop();
}

void dispatch_queue::stop() noexcept {
  auto& self = *implementation_;
  {
    const std::lock_guard lock{self.mutex};
    self.stopping = true;
  }
  self.stop_hint.store(true, std::memory_order_relaxed);
  self.called.notify_all();
  self.poller.interrupt();
  for (auto& thread : self.threads)
    if (thread.joinable())
      thread.join();
  // Released outside the mutex: a destructor may wake, watch or unwatch.
  for (;;) {
    task* left = self.take_shared();
    if (!left)
      break;
    left->release();
  }
}

void dispatch_queue::wake(task& woken, std::uint32_t bits) noexcept {
  assert((bits & ~usable_bits) == 0);
  implementation_->wake(woken, bits);
}

result<dispatch_queue::registration> dispatch_queue::watch(int fd, task& owner, interest bits) {
  auto& self = *implementation_;
  implementation::slot* chosen;
  {
    const std::lock_guard lock{self.mutex};
    if (self.free_slots.empty()) {
      chosen = &self.slots.emplace_back();
      self.free_slots.reserve(self.slots.size()); // so that giving one back never allocates
    } else {
      chosen = self.free_slots.back();
      self.free_slots.pop_back();
    }
  }
  {
    const std::lock_guard lock{chosen->mutex};
    chosen->owner = &owner;
    chosen->bits = bits;
  }
  owner.retain();
  registration made;
  made.queue_ = this;
  made.slot_ = chosen;
  if (auto added = self.poller.add(fd, chosen, {.readable = bits.readable != 0}); !added) {
    made.reset();
    return tl::unexpected{added.error()};
  }
  made.fd_ = fd;
  return made;
}

void dispatch_queue::registration::watch_writable(bool wanted) noexcept {
  if (!queue_)
    return;
  const auto& watched = *static_cast<implementation::slot*>(slot_);
  // The bits are ours to read: they change only with the registration.
  queue_->implementation_->poller.change(
      fd_, slot_, {.readable = watched.bits.readable != 0, .writable = wanted});
}

void dispatch_queue::registration::reset() noexcept {
  auto* queue = std::exchange(queue_, nullptr);
  if (!queue)
    return;
  auto& self = *queue->implementation_;
  if (fd_ >= 0)
    self.poller.remove(fd_);
  auto* left = static_cast<implementation::slot*>(slot_);
  task* owner;
  {
    const std::lock_guard lock{left->mutex};
    owner = std::exchange(left->owner, nullptr);
  }
  {
    const std::lock_guard lock{self.mutex};
    self.free_slots.push_back(left);
  }
  owner->release();
}

std::size_t dispatch_queue::workers() const noexcept {
  return implementation_->threads.size();
}

const std::string& dispatch_queue::name() const noexcept {
  return implementation_->name;
}

bool dispatch_queue::is_current() const noexcept {
  const auto* here = implementation::current;
  return here && here->queue == implementation_.get();
}

} // namespace vmswitch
