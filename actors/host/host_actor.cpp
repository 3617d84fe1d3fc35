#include "actors/host/host_actor.hpp"

#include <algorithm>
#include <optional>

#include <spdlog/spdlog.h>

#include "actors/drop_report.hpp"
#include "actors/messages.hpp"
#include "actors/network/network_forwards.hpp"
#include "transport/frame/burst_builder.hpp"

namespace vmswitch {

namespace {

constexpr std::chrono::seconds first_pause{1};
constexpr std::chrono::seconds longest_pause{30};

struct host_port_state;

// Gathers the backend's frames into bursts for the switch.
class switch_sink final : public frame_sink {
public:
  explicit switch_sink(host_port_state& owner) : owner_{owner} {}
  bool deliver(std::span<const std::byte> frame) override;
  std::span<std::byte> room() override;
  bool commit(std::size_t size) override;
  bool has_room() const noexcept override;

private:
  bool fits(std::size_t size);
  host_port_state& owner_;
};

struct host_port_state {
  explicit host_port_state(pinned<host_port_state>* actor) : self{actor}, sink{*this} {}
  ~host_port_state() { take_down(); }

  pinned<host_port_state>* self;
  host_actor_config config;
  switch_sink sink;
  std::shared_ptr<slab_pool> pool;
  std::optional<burst_builder> builder;
  dispatch_queue::registration registration;
  port_counters counters;
  std::optional<host_forwards> forwards; // until close()
  bool up = false;
  bool closing = false;
  bool waiting_for_slab = false;
  std::chrono::seconds pause = first_pause;

  static constexpr const char* name = "host";

  void start(host_actor_config with);
  result<void> bring_up();
  void take_down() noexcept;
  void failed(const error& why);
  void process();
  void send_pending();
  void on_frames(const burst& frames);
  void close();
  void change(const network_limits& limits);
  void adjust(const adjust_host& message);
  void replace(const replace_host& message);
  void open_forwards(forward_setup setup);
  void answer(std::uint64_t ticket, std::string failure);
};

bool switch_sink::fits(std::size_t size) {
  auto& to = owner_;
  if (size < ethernet_header_size || size > to.config.max_frame) {
    to.counters.drops.add(size < ethernet_header_size ? drop_reason::runt : drop_reason::oversize,
                          1);
    return false;
  }
  return true;
}

bool switch_sink::deliver(std::span<const std::byte> frame) {
  auto& to = owner_;
  if (!fits(frame.size()))
    return false;
  auto outcome = to.builder->append(frame);
  if (outcome == burst_builder::outcome::full) {
    to.send_pending();
    outcome = to.builder->append(frame);
  }
  if (outcome != burst_builder::outcome::added) {
    to.counters.drops.add(drop_reason::ingress_exhausted, 1);
    return false;
  }
  ++to.counters.frames_in;
  to.counters.bytes_in += frame.size();
  return true;
}

std::span<std::byte> switch_sink::room() {
  auto& to = owner_;
  const std::size_t most = to.config.max_frame + 1;
  burst_builder::outcome why{};
  auto space = to.builder->reserve(most, why);
  if (why == burst_builder::outcome::full) {
    to.send_pending();
    space = to.builder->reserve(most, why);
  }
  return space;
}

bool switch_sink::commit(std::size_t size) {
  if (!fits(size))
    return false;
  owner_.builder->commit(size);
  ++owner_.counters.frames_in;
  owner_.counters.bytes_in += size;
  return true;
}

// The last slabs are kept for what the backend cannot hold back, such as replies.
bool switch_sink::has_room() const noexcept {
  return owner_.pool->outstanding() <= owner_.pool->budget() / 2;
}

void host_port_state::start(host_actor_config with) {
  config = std::move(with);
  tell(config.vm_switch, attach_port{config.id, caf::actor{self}, "host"});
  const caf::actor_addr address = self->address();
  pool = slab_pool::create(config.stock, std::max<std::size_t>(config.limits.slab_budget, 2),
                           [address] {
                             if (auto host = caf::actor_cast<caf::actor>(address))
                               tell(host, slab_returned{});
                           });
  builder.emplace(pool);
  self->on_ready([this](readiness) { process(); });
  forwards.emplace(std::move(config.forwards), *config.backend, config.supervisor);
  auto started = bring_up();
  const bool has_backend = started.has_value();
  if (started)
    started = forwards->open();
  tell(config.supervisor,
       host_state{config.backend->describe(), started ? std::string{} : started.error().text,
                  started ? 0 : started.error().code, has_backend && !started});
  if (!started)
    close();
}

result<void> host_port_state::bring_up() {
  if (auto started = config.backend->start(sink); !started)
    return started;
  up = true;
  if (config.backend->fd() >= 0) {
    auto watched = self->watch(config.backend->fd());
    if (!watched) {
      take_down();
      return tl::unexpected{watched.error()};
    }
    registration = std::move(*watched);
  }
  pause = first_pause;
  return {};
}

void host_port_state::take_down() noexcept {
  registration.reset();
  if (up)
    config.backend->stop();
  up = false;
}

void host_port_state::failed(const error& why) {
  take_down();
  tell(config.supervisor, host_state{config.backend->describe(), why.text, why.code, false});
  tell_after(self, pause, host_restart{});
  pause = std::min(pause * 2, longest_pause);
}

void host_port_state::process() {
  if (!up || closing)
    return;
  const auto more = config.backend->process();
  send_pending();
  if (!more) {
    failed(more.error());
    return;
  }
  if (!*more)
    return;
  // Either its share is used up, or slabs are short: then the next one that returns goes on.
  waiting_for_slab = !sink.has_room() && pool->call_on_next_return();
  if (waiting_for_slab)
    return;
  if (self->queue())
    self->again({.readable = true});
  else
    tell(caf::actor{self}, link_ready{{.readable = true}});
}

void host_port_state::send_pending() {
  if (!builder->empty())
    tell(config.vm_switch, frames_in{config.id, builder->take()});
}

void host_port_state::on_frames(const burst& frames) {
  if (!up || closing) {
    counters.drops.add(closing ? drop_reason::port_closed : drop_reason::host_refused,
                       frames.frames());
    return;
  }
  const auto refused = config.backend->write(frames);
  counters.drops.add(drop_reason::host_refused, refused.frames);
  counters.frames_out += frames.frames() - refused.frames;
  counters.bytes_out += frames.frame_bytes() - refused.bytes;
  send_pending();
}

void host_port_state::close() {
  if (closing)
    return;
  closing = true;
  take_down();
  forwards.reset();
  tell(config.vm_switch, detach_port{config.id});
}

void host_port_state::change(const network_limits& limits) {
  pool->change_budget(std::max<std::size_t>(limits.slab_budget, 2));
  if (std::exchange(waiting_for_slab, false))
    process();
}

void host_port_state::answer(std::uint64_t ticket, std::string failure) {
  tell(config.supervisor, part_changed{ticket, std::move(failure)});
}

void host_port_state::adjust(const adjust_host& message) {
  if (closing)
    return answer(message.ticket, "the network stops");
  message.adjust(*config.backend);
  if (forwards)
    forwards->change(message.dhcp);
  answer(message.ticket, {});
}

// Those that cannot be had any more are missed, and said to be.
void host_port_state::open_forwards(forward_setup setup) {
  const auto rules = std::exchange(setup.rules, {});
  const auto more = std::exchange(setup.more, {});
  forwards.emplace(std::move(setup), *config.backend, config.supervisor);
  const auto open = [&](const forward_rule& rule, const std::string& by) {
    if (const auto opened = forwards->add(rule, by); !opened)
      tell(config.supervisor,
           service_note{service_note::level::warning, "forward",
                        "forward " + to_string(rule) + " ends: " + opened.error().text});
  };
  for (const auto& rule : rules)
    open(rule, {});
  for (const auto& [rule, by] : more)
    open(rule, by);
}

// While it was down anyway, a restart is under way, of whichever is there then.
void host_port_state::replace(const replace_host& message) {
  if (closing)
    return answer(message.ticket, "the network stops");
  auto other = std::move(*message.next);
  const bool was_up = up;
  auto setup = forwards->remake();
  forwards.reset();
  take_down();
  other->inherit(*config.backend);
  config.backend.swap(other);
  if (const auto started = bring_up(); !started) {
    config.backend.swap(other);
    answer(message.ticket, started.error().text);
    if (was_up)
      if (const auto again = bring_up(); !again)
        failed(again.error());
    open_forwards(std::move(setup));
    return;
  }
  auto before = std::exchange(setup, forwards_of(message.config));
  setup.rules = std::move(before.rules);
  setup.more = std::move(before.more);
  open_forwards(std::move(setup));
  answer(message.ticket, {});
}

caf::behavior make_host(pinned<host_port_state>* self, host_actor_config config) {
  auto& state = state_of(self);
  state.start(std::move(config));
  return {
      [&state](const frames_out& message) { state.on_frames(message.frames); },
      [&state](const slab_returned&) {
        if (std::exchange(state.waiting_for_slab, false))
          state.process();
      },
      [&state](const link_ready&) { state.process(); },
      [&state](const host_restart&) {
        if (state.up || state.closing)
          return;
        if (const auto started = state.bring_up())
          tell(state.config.supervisor, host_state{state.config.backend->describe(), {}, 0, false});
        else
          state.failed(started.error());
      },
      [&state](const detached&) {
        state.close();
        spdlog::log(state.counters.drops.total() > 0 ? spdlog::level::info : spdlog::level::debug,
                    "host interface down ({})", summary(state.counters));
        state.self->quit();
      },
      [&state](const stop&) { state.close(); },
      [&state](const change_limits& message) { state.change(message.limits); },
      [&state](const set_port_flags& message) { tell(state.config.vm_switch, message); },
      [&state](const adjust_host& message) { state.adjust(message); },
      [&state](const replace_host& message) { state.replace(message); },
      [&state](const report_counters& message) {
        counters_report report{state.config.id, "host", state.counters, message.about, {}, {}, {}};
        if (message.scope.services)
          report.services = state.config.backend->services();
        if (message.scope.services && state.forwards)
          report.services.forwards = state.forwards->list();
        if (message.scope.names)
          report.services.names = state.config.backend->names();
        tell(message.to, std::move(report));
      },
      [&state](const forward_add& message) {
        if (state.forwards)
          state.forwards->add(message);
      },
      [&state](const forward_remove& message) {
        if (state.forwards)
          state.forwards->remove(message);
      },
      [&state](const forward_list& message) {
        if (state.forwards)
          state.forwards->list(message);
      },
  };
}

} // namespace

caf::actor spawn_host(caf::actor_system& system, dispatch_queue* queue, host_actor_config config) {
  // The init function must be copyable, the backend is not.
  auto shared = std::make_shared<host_actor_config>(std::move(config));
  return spawn_pinned<host_port_state>(system, queue, [shared](pinned<host_port_state>* self) {
    return make_host(self, std::move(*shared));
  });
}

} // namespace vmswitch
