#pragma once

/// The one place that knows which CAF it meets: 0.17.6 (Debian, Ubuntu) or 1.x (Homebrew).
///
/// Theory of operation. Everything else uses CAF's common subset, and this header for the rest:
/// sending (`tell`, `tell_after`), state (`state_of`), spawning on a dispatch queue
/// (`spawn_pinned`), watching a death (`watch`), configuration (`make_config`).
///
/// A *pinned* actor is an ordinary event-based actor whose mailbox is run by a dispatch queue of
/// ours instead of CAF's scheduler, and which can watch file descriptors on that queue: readiness
/// and messages reach it on the same worker thread, never both at once. Without a queue (in tests)
/// it is scheduled by CAF like any other actor.

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include <caf/all.hpp>

#include "transport/dispatch_queue.hpp"
#include "transport/link.hpp"

namespace vmswitch {

#if CAF_MAJOR_VERSION < 1
using caf_unit = caf::execution_unit;
#else
using caf_unit = caf::scheduler;
#endif

/// Runs one pinned actor's mailbox on its queue; everything else goes to CAF's own scheduler.
class pinned_unit final : public caf_unit {
public:
  pinned_unit(caf::actor_system& system, std::function<void()> wake_owner);
#if CAF_MAJOR_VERSION < 1
  void exec_later(caf::resumable* job) override;
#else
  void schedule(caf::resumable* job) override;
  void delay(caf::resumable* job) override;
  void start() override {}
  void stop() override {}
#endif
  void owner(caf::resumable* pinned) noexcept {
    owner_ = pinned;
  }

private:
  caf::actor_system& home_;
  caf::resumable* owner_ = nullptr;
  std::function<void()> wake_owner_;
};

/// Base of the actors that run on a dispatch queue.
class pinned_actor : public caf::event_based_actor, private dispatch_queue::task {
public:
  /// @param queue where to run; null: on CAF's scheduler. Must outlive the actor.
  pinned_actor(caf::actor_config& cfg, dispatch_queue* queue);

#if CAF_MAJOR_VERSION < 1
  void enqueue(caf::mailbox_element_ptr message, caf::execution_unit* unit) override;
#else
  bool enqueue(caf::mailbox_element_ptr message, caf::scheduler* unit) override;
#endif
  void launch(caf_unit* unit, bool lazy, bool hide) override;

  dispatch_queue* queue() const noexcept {
    return queue_;
  }

  /// What to do when a watched descriptor, or `again`, says so. Set once, before watching. It runs
  /// outside a message: it may send, but not quit.
  void on_ready(std::function<void(readiness)> handler) {
    on_ready_ = std::move(handler);
  }

  /// Watches a descriptor on the queue until the registration goes, for "readable" if `reads`.
  /// @pre queue() != nullptr
  result<dispatch_queue::registration> watch(int fd, bool reads = true);

  /// Says how many bytes the present run has moved: who moves a lot lets others go first.
  void moved(std::size_t bytes) noexcept {
    heavy(bytes >= 16 * 1024);
  }

  /// Has on_ready called again soon, behind what else is waiting. @pre queue() != nullptr
  void again(readiness ready);

private:
  void run(std::uint32_t bits) noexcept override;
  void retain() noexcept override;
  void release() noexcept override;

  dispatch_queue* const queue_;
  pinned_unit unit_;
  std::function<void(readiness)> on_ready_;
};

/// An actor with a state class, run on a dispatch queue. The state dies with the actor's run.
template <class State>
using pinned = caf::stateful_actor<State, pinned_actor>;

/// Spawns `make`, a `caf::behavior(pinned<State>*)`, on `queue` (null: on CAF's scheduler).
template <class State, class Make>
caf::actor spawn_pinned(caf::actor_system& system, dispatch_queue* queue, Make make) {
  using implementation = pinned<State>;
  caf::actor_config cfg;
  cfg.init_fun = caf::actor_config::init_fun_type{
      [make = std::move(make)](caf::local_actor* self) mutable -> caf::behavior {
        return make(static_cast<implementation*>(self));
      }};
  return system.spawn_class<implementation, caf::no_spawn_options>(cfg, queue);
}

/// The state of a stateful actor.
template <class Self>
auto& state_of(Self* self) {
#if CAF_MAJOR_VERSION < 1
  return self->state;
#else
  return self->state();
#endif
}

/// Sends without a sender, from anywhere: no reply can come back, nothing is counted.
template <class Handle, class Message>
void tell(const Handle& receiver, Message&& message) {
#if CAF_MAJOR_VERSION < 1
  caf::anon_send(receiver, std::forward<Message>(message));
#else
  caf::anon_mail(std::forward<Message>(message)).send(receiver);
#endif
}

/// Sends one message object that several actors share.
void tell_shared(const caf::actor& receiver, const caf::message& message);

/// Sends to the actor itself after a delay, which cannot be taken back: a handler looks whether
/// the matter is still open.
template <class Self, class Message>
void tell_after(Self* self, std::chrono::nanoseconds delay, Message message) {
#if CAF_MAJOR_VERSION < 1
  self->delayed_send(self, delay, std::move(message));
#else
  self->mail(std::move(message)).delay(delay).send(self);
#endif
}

/// The actor clock's now: real time, or a test's.
template <class Self>
std::chrono::steady_clock::time_point now_of(Self* self) {
  return self->clock().now();
}

/// Calls `gone` once when `watched` has ended (at once if it has already), on any thread. The
/// function must only send.
void watch(const caf::actor& watched, std::function<void(const caf::error&)> gone);

/// Text for a person.
std::string describe(caf::actor_system& system, const caf::error& reason);

/// CAF's own scheduler for control-plane actors: it sleeps when idle.
class system_config : public caf::actor_system_config {
public:
  explicit system_config(std::size_t threads);
};

/// Must run once, before the first actor system.
void register_messages();

} // namespace vmswitch
