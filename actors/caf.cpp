#include "actors/caf.hpp"

#include "actors/messages.hpp"

namespace vmswitch {

namespace {

constexpr std::uint32_t mail = 1;
constexpr std::uint32_t readable = 2;
constexpr std::uint32_t writable = 4;
constexpr std::uint32_t hangup = 8;

// Messages that one run handles before others have their turn.
constexpr std::size_t messages_per_run = 64;

} // namespace

pinned_unit::pinned_unit(caf::actor_system& system, std::function<void()> wake_owner)
    :
#if CAF_MAJOR_VERSION < 1
      caf_unit{&system},
#endif
      home_{system}, wake_owner_{std::move(wake_owner)} {
}

#if CAF_MAJOR_VERSION < 1

void pinned_unit::exec_later(caf::resumable* job) {
  if (job != owner_) {
    home_.scheduler().enqueue(job);
    return;
  }
  // CAF hands over one reference; the queue holds its own while the actor is scheduled.
  wake_owner_();
  caf::intrusive_ptr_release(job);
}

#else

void pinned_unit::schedule(caf::resumable* job) {
  if (job != owner_) {
    home_.scheduler().schedule(job);
    return;
  }
  wake_owner_();
  caf::intrusive_ptr_release(job);
}

void pinned_unit::delay(caf::resumable* job) {
  schedule(job);
}

#endif

pinned_actor::pinned_actor(caf::actor_config& cfg, dispatch_queue* queue)
    : caf::event_based_actor{cfg}, queue_{queue}, unit_{home_system(),
                                                        [this] { queue_->wake(*this, mail); }} {
  unit_.owner(this);
  set_exception_handler([](caf::scheduled_actor*, std::exception_ptr&) -> caf::error {
    return caf::sec::runtime_error; // the supervisor sees it and says so
  });
}

#if CAF_MAJOR_VERSION < 1

void pinned_actor::enqueue(caf::mailbox_element_ptr message, caf::execution_unit* unit) {
  caf::event_based_actor::enqueue(std::move(message), queue_ ? &unit_ : unit);
}

#else

bool pinned_actor::enqueue(caf::mailbox_element_ptr message, caf::scheduler* unit) {
  return caf::event_based_actor::enqueue(std::move(message), queue_ ? &unit_ : unit);
}

#endif

void pinned_actor::launch(caf_unit* unit, bool lazy, bool hide) {
  caf::event_based_actor::launch(queue_ ? &unit_ : unit, lazy, hide);
}

result<dispatch_queue::registration> pinned_actor::watch(int fd, bool reads) {
  return queue_->watch(fd, *this, {reads ? readable : 0, writable, hangup});
}

void pinned_actor::again(readiness ready) {
  queue_->wake(*this, (ready.readable ? readable : 0) | (ready.writable ? writable : 0) |
                          (ready.hangup ? hangup : 0));
}

void pinned_actor::run(std::uint32_t bits) noexcept {
  if ((bits & ~mail) != 0 && getf(is_initialized_flag) && !getf(is_terminated_flag) && on_ready_)
    on_ready_({(bits & readable) != 0, (bits & writable) != 0, (bits & hangup) != 0});
  if ((bits & mail) != 0 && resume(&unit_, messages_per_run) == caf::resumable::resume_later)
    queue_->wake(*this, mail);
}

#if CAF_MAJOR_VERSION < 1
void pinned_actor::retain() noexcept {
  intrusive_ptr_add_ref_impl();
}
void pinned_actor::release() noexcept {
  intrusive_ptr_release_impl();
}
#else
void pinned_actor::retain() noexcept {
  ref_resumable();
}
void pinned_actor::release() noexcept {
  deref_resumable();
}
#endif

void tell_shared(const caf::actor& receiver, const caf::message& message) {
#if CAF_MAJOR_VERSION < 1
  receiver->enqueue(nullptr, caf::make_message_id(), message, nullptr);
#else
  caf::anon_mail(message).send(receiver);
#endif
}

void watch(const caf::actor& watched, std::function<void(const caf::error&)> gone) {
  watched->attach_functor([gone = std::move(gone)](const caf::error& reason) { gone(reason); });
}

std::string describe(caf::actor_system& system, const caf::error& reason) {
#if CAF_MAJOR_VERSION < 1
  return system.render(reason);
#else
  static_cast<void>(system);
  return caf::to_string(reason);
#endif
}

system_config::system_config(std::size_t threads) {
#if CAF_MAJOR_VERSION < 1
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", threads);
#else
  set("caf.scheduler.policy", "sharing");
  set("caf.scheduler.max-threads", threads);
#endif
}

void register_messages() {
#if CAF_MAJOR_VERSION >= 1
  caf::init_global_meta_objects<caf::id_block::vmswitch_messages>();
  caf::core::init_global_meta_objects();
#endif
}

} // namespace vmswitch
