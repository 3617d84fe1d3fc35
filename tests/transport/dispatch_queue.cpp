#include "transport/dispatch_queue.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "transport/owned_fd.hpp"

namespace vmswitch {

namespace {

// A task whose references are counted by hand and whose runs can be waited for.
class counted_task final : public dispatch_queue::task {
public:
  explicit counted_task(std::function<void(std::uint32_t)> body = {}) : body_{std::move(body)} {}
  ~counted_task() override { wait_until_released(); }

  void run(std::uint32_t bits) noexcept override {
    if (running_.exchange(true))
      overlapped = true;
    if (body_)
      body_(bits);
    running_ = false;
    const std::lock_guard lock{mutex_};
    ++runs_;
    bits_ |= bits;
    changed_.notify_all();
  }
  void retain() noexcept override { ++references; }
  void release() noexcept override {
    const std::lock_guard lock{mutex_};
    --references;
    changed_.notify_all();
  }

  /// Blocks until `done(runs, bits)`; a test that would wait for ever ends by its time-out.
  void wait(const std::function<bool(int, std::uint32_t)>& done) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return done(runs_, bits_); });
  }
  void wait_until_released() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return references == 0; });
  }
  int runs() {
    const std::lock_guard lock{mutex_};
    return runs_;
  }

  std::atomic<int> references{0};
  std::atomic<bool> overlapped{false};

private:
  std::function<void(std::uint32_t)> body_;
  std::atomic<bool> running_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  int runs_ = 0;
  std::uint32_t bits_ = 0;
};

struct socket_pair {
  socket_pair() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    a.reset(fds[0]);
    b.reset(fds[1]);
  }
  void write() const { REQUIRE(::send(b.get(), "x", 1, MSG_NOSIGNAL) == 1); }
  owned_fd a;
  owned_fd b;
};

} // namespace

TEST_CASE("a woken task runs with the bits that it was woken with") {
  dispatch_queue queue{"test", 2};
  counted_task task;
  queue.wake(task, 4);
  task.wait([](int, std::uint32_t bits) { return bits == 4; });
  queue.wake(task, 1);
  task.wait([](int, std::uint32_t bits) { return bits == 5; });
  queue.stop();
  CHECK(task.references == 0);
}

TEST_CASE("wakes from many threads are neither lost nor make a task run twice at once") {
  dispatch_queue queue{"test", 3};
  std::atomic<int> pending{0};
  std::atomic<int> seen{0};
  counted_task task{[&](std::uint32_t) { seen += pending.exchange(0); }};
  std::vector<std::thread> wakers;
  constexpr int each = 20'000;
  for (int i = 0; i < 4; ++i)
    wakers.emplace_back([&] {
      for (int n = 0; n < each; ++n) {
        ++pending;
        queue.wake(task, 1);
      }
    });
  for (auto& waker : wakers)
    waker.join();
  task.wait([&](int, std::uint32_t) { return seen == 4 * each; });
  CHECK_FALSE(task.overlapped);
  queue.stop();
  CHECK(task.references == 0);
}

TEST_CASE("a task that wakes itself runs again") {
  dispatch_queue queue{"test", 1};
  counted_task* self = nullptr;
  int left = 100;
  counted_task task{[&](std::uint32_t) {
    if (--left > 0)
      queue.wake(*self, 1);
  }};
  self = &task;
  queue.wake(task, 1);
  task.wait([](int runs, std::uint32_t) { return runs == 100; });
}

TEST_CASE("a task that always wakes itself does not keep others from running") {
  dispatch_queue queue{"test", 1};
  counted_task* self = nullptr;
  std::atomic<bool> go_on{true};
  counted_task greedy{[&](std::uint32_t) {
    if (go_on)
      queue.wake(*self, 1);
  }};
  self = &greedy;
  queue.wake(greedy, 1);
  counted_task other;
  queue.wake(other, 1);
  other.wait([](int runs, std::uint32_t) { return runs == 1; });
  socket_pair sockets;
  counted_task reader;
  auto watched = queue.watch(sockets.a.get(), reader, {1, 2, 4});
  REQUIRE(watched);
  sockets.write();
  reader.wait([](int, std::uint32_t bits) { return (bits & 1) != 0; });
  go_on = false;
}

TEST_CASE("a serial queue runs everything on one thread, which is not the caller's") {
  dispatch_queue queue{"test", 1};
  std::atomic<std::thread::id> thread{};
  std::atomic<bool> same{true};
  const auto check = [&](std::uint32_t) {
    if (thread.load() == std::thread::id{})
      thread = std::this_thread::get_id();
    same = same && thread.load() == std::this_thread::get_id() && queue.is_current();
  };
  std::vector<std::unique_ptr<counted_task>> tasks;
  for (int i = 0; i < 50; ++i) {
    tasks.push_back(std::make_unique<counted_task>(check));
    queue.wake(*tasks.back(), 1);
  }
  for (auto& task : tasks)
    task->wait([](int runs, std::uint32_t) { return runs > 0; });
  CHECK(same);
  CHECK(thread.load() != std::this_thread::get_id());
  CHECK_FALSE(queue.is_current());
}

TEST_CASE("a watched descriptor tells readable, writable and hang-up") {
  dispatch_queue queue{"test", 2};
  socket_pair sockets;
  counted_task task;
  auto watched = queue.watch(sockets.a.get(), task, {1, 2, 4});
  REQUIRE(watched);
  watched->watch_writable(true); // it is, and that is told
  task.wait([](int, std::uint32_t bits) { return bits == 2; });
  sockets.write();
  task.wait([](int, std::uint32_t bits) { return bits == 3; });
  sockets.b.reset();
  task.wait([](int, std::uint32_t bits) { return bits == 7; });
}

TEST_CASE("who does not wait for a socket to be writable is not woken by its peer's reads") {
  dispatch_queue queue{"test", 1};
  socket_pair sockets;
  counted_task task;
  auto watched = queue.watch(sockets.a.get(), task, {1, 2, 4});
  REQUIRE(watched);
  watched->watch_writable(true);
  task.wait([](int, std::uint32_t bits) { return bits == 2; });
  watched->watch_writable(false);
  const int before = task.runs();
  REQUIRE(::send(sockets.a.get(), "x", 1, MSG_NOSIGNAL) == 1);
  char byte;
  REQUIRE(::recv(sockets.b.get(), &byte, 1, 0) == 1);
  sockets.write(); // comes later, and alone
  task.wait([](int, std::uint32_t bits) { return (bits & 1) != 0; });
  CHECK(task.runs() == before + 1);
}

TEST_CASE("a watched task is kept alive until its registration goes") {
  dispatch_queue queue{"test", 2};
  socket_pair sockets;
  counted_task task;
  {
    auto watched = queue.watch(sockets.a.get(), task, {1, 2, 4});
    REQUIRE(watched);
    CHECK(task.references > 0);
  }
  task.wait_until_released();
}

TEST_CASE("after its registration has gone a descriptor wakes nobody") {
  dispatch_queue queue{"test", 2};
  socket_pair sockets;
  counted_task task;
  auto watched = queue.watch(sockets.a.get(), task, {1, 2, 4});
  REQUIRE(watched);
  sockets.write();
  task.wait([](int runs, std::uint32_t) { return runs > 0; });
  watched->reset();
  task.wait_until_released();
  const int before = task.runs();
  sockets.write();
  counted_task barrier; // later events have been looked at when this one has
  socket_pair other;
  auto also = queue.watch(other.a.get(), barrier, {1, 0, 0});
  REQUIRE(also);
  other.write();
  barrier.wait([](int, std::uint32_t bits) { return bits == 1; });
  CHECK(task.runs() == before);
}

TEST_CASE("descriptors that come and go by the thousand, while they are written to") {
  dispatch_queue queue{"test", 2};
  for (int i = 0; i < 3000; ++i) {
    socket_pair sockets;
    counted_task task;
    auto watched = queue.watch(sockets.a.get(), task, {1, 2, 4});
    REQUIRE(watched);
    sockets.write();
    if (i % 2 == 0)
      task.wait([](int, std::uint32_t bits) { return (bits & 1) != 0; });
    watched->reset();
    task.wait_until_released();
  }
}

TEST_CASE("watching what cannot be watched is an error, not a crash") {
  dispatch_queue queue{"test", 1};
  counted_task task;
  const auto watched = queue.watch(-1, task, {1, 2, 4});
  REQUIRE_FALSE(watched);
  CHECK(watched.error().code == EBADF);
  CHECK(task.references == 0);
}

TEST_CASE("stopping lets go of tasks that did not run, and of later wakes") {
  counted_task task;
  dispatch_queue queue{"test", 2};
  queue.stop();
  queue.wake(task, 1);
  CHECK(task.references == 0);
  CHECK(task.runs() == 0);
}

} // namespace vmswitch
