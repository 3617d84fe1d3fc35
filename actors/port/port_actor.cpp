#include "actors/port/port_actor.hpp"

#include <array>
#include <system_error>

#include <fmt/format.h>

#include "actors/drop_report.hpp"
#include "actors/messages.hpp"
#include "actors/port/egress_queue.hpp"
#include "actors/port/ingress_buffer.hpp"

namespace vmswitch {

namespace {

// A port that always has more to read gives way to others after so many slabs.
constexpr int reads_per_run = 1;
// Ranges given to one write. Neighbouring frames are one range.
constexpr std::size_t ranges_per_write = 256;
static_assert(ranges_per_write <= link::max_iovecs);
constexpr std::chrono::seconds drop_event_interval{10};

struct port_state {
  explicit port_state(pinned<port_state>* actor) : self{actor} {}

  pinned<port_state>* self;
  port_config config;
  std::string peer;
  std::unique_ptr<ingress_buffer> in;
  std::unique_ptr<egress_queue> out;
  dispatch_queue::registration registration;
  port_counters counters;          // the egress queue adds its own
  std::uint64_t refused_bytes = 0; // of frames that the egress queue takes for sent
  bool hangup = false;
  bool closing = false;
  bool check_pending = false;
  bool writable_watched = false;
  drop_counters told_drops; // up to the last event about them
  std::chrono::steady_clock::time_point told_at{};

  static constexpr const char* name = "port";

  void start(port_config with);
  bool watch();
  void on_ready(readiness ready);
  void on_dedicated(const link_dedicated& message);
  void read();
  bool take(std::size_t bytes);
  void hear();
  void skip(const skipped_frames& skipped);
  void forward(burst frames);
  void send(const burst& frames);
  void flush();
  void write();
  void check_later(std::chrono::steady_clock::time_point now);
  void on_check();
  void tell_drops(std::chrono::steady_clock::time_point now);
  void close(const std::string& why, bool orderly);
  void change(const network_limits& limits);
  template <class... Parts>
  void note(port_note::what kind, fmt::format_string<Parts...> text, Parts&&... parts) {
    tell(config.supervisor, port_note{kind,
                                      fmt::format("port {} {}", config.name,
                                                  fmt::format(text, std::forward<Parts>(parts)...)),
                                      config.name});
  }
  port_counters totals() const;
  void tell_counters(const report_counters& message) const;
};

void port_state::start(port_config with) {
  config = std::move(with);
  peer = config.connection->peer();
  tell(config.vm_switch, attach_port{config.id, caf::actor{self}, config.name, config.flags});
  const caf::actor_addr address = self->address();
  auto pool = slab_pool::create(config.stock, config.limits.slab_budget, [address] {
    if (auto port = caf::actor_cast<caf::actor>(address))
      tell(port, slab_returned{});
  });
  in = std::make_unique<ingress_buffer>(std::move(pool), config.max_frame);
  out = std::make_unique<egress_queue>(config.limits.egress_bursts, config.limits.egress_deadline);
  config.connection->on_ready([address](readiness ready) {
    if (auto port = caf::actor_cast<caf::actor>(address))
      tell(port, link_ready{ready});
  });
  if (config.connection->fd() < 0)
    return;
  self->on_ready([this](readiness ready) { on_ready(ready); });
  watch();
}

bool port_state::watch() {
  auto watched = self->watch(config.connection->fd(), config.connection->receives());
  if (watched)
    registration = std::move(*watched);
  else
    close(watched.error().text, false);
  return watched.has_value();
}

void port_state::on_dedicated(const link_dedicated& message) {
  if (closing)
    return;
  config.connection->dedicate(message.reads);
  if (config.connection->fd() < 0) {
    if (message.reads)
      close("no descriptor was left to watch its socket with", false);
    return;
  }
  registration.reset();
  writable_watched = false;
  if (watch())
    flush(); // and if it is blocked still, is told when that is over
}

void port_state::on_ready(readiness ready) {
  if (closing)
    return;
  hangup = hangup || ready.hangup;
  if (ready.writable) {
    if (config.connection->tells_writable())
      out->unblocked();
    flush();
  }
  if (ready.readable || ready.hangup)
    read();
}

void port_state::read() {
  for (int reads = 0; reads < reads_per_run && !closing; ++reads) {
    const auto space = in->space();
    if (space.empty())
      return; // slab_returned goes on from here
    const io_result got = config.connection->read(space);
    switch (got.status) {
    case io_status::ok:
      self->moved(got.bytes);
      skip({0, static_cast<std::uint32_t>(got.refused.frames), got.refused.bytes});
      // Less than asked for means that there is no more: the next bytes are a new event. Not so
      // after a hang-up, whose event may have come together with the last bytes.
      if (!take(got.bytes) || (got.bytes < space.size() && !got.more && !hangup))
        return;
      break;
    case io_status::would_block:
      in->idle();
      return;
    case io_status::closed:
      close("closed by the VM", true);
      return;
    case io_status::failed:
      close(std::system_category().message(got.error), false);
      return;
    }
  }
  if (closing)
    return;
  if (self->queue())
    self->again({.readable = true});
  else
    tell(caf::actor{self}, link_ready{{.readable = true}});
}

// Hands what has been read to the switch; false if the port has closed.
bool port_state::take(std::size_t bytes) {
  auto [frames, scan] = in->received(bytes);
  if (!frames.empty())
    forward(std::move(frames));
  skip(scan.skipped);
  if (scan.framing_lost) {
    close(fmt::format("frame length {} is no frame: the stream has lost its framing",
                      scan.bad_length),
          false);
    return false;
  }
  return true;
}

// Before the first frame of any kind is counted.
void port_state::hear() {
  if (counters.frames_in == 0)
    note(port_note::what::up, "up: {} on {}", peer, config.via);
}

void port_state::skip(const skipped_frames& skipped) {
  if (skipped.frames() == 0)
    return;
  hear();
  counters.drops.add(drop_reason::runt, skipped.runts);
  counters.drops.add(drop_reason::oversize, skipped.oversize);
  counters.frames_in += skipped.frames();
  counters.bytes_in += skipped.bytes;
}

void port_state::forward(burst frames) {
  hear();
  counters.frames_in += frames.frames();
  counters.bytes_in += frames.frame_bytes();
  tell(config.vm_switch, frames_in{config.id, std::move(frames)});
}

void port_state::send(const burst& frames) {
  if (closing) {
    counters.drops.add(drop_reason::port_closed, frames.frames());
    return;
  }
  const auto now = now_of(self);
  if (out->stalled() && !config.connection->tells_writable()) {
    out->begin_probe(frames, now);
    flush();
    out->end_probe();
    return;
  }
  out->push(frames, now);
  if (!out->is_blocked())
    flush();
}

void port_state::flush() {
  write();
  if (!closing && out->is_blocked() != writable_watched) {
    writable_watched = out->is_blocked();
    registration.watch_writable(writable_watched);
  }
}

void port_state::write() {
  std::array<iovec, ranges_per_write> wire;
  while (!closing) {
    const std::size_t ranges = out->gather(wire);
    if (ranges == 0)
      return;
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < ranges; ++i)
      wanted += wire[i].iov_len;
    const io_result sent = config.connection->write({wire.data(), ranges});
    const auto now = now_of(self);
    switch (sent.status) {
    case io_status::ok:
    case io_status::would_block:
      counters.drops.add(drop_reason::egress_refused, sent.refused.frames);
      refused_bytes += sent.refused.bytes;
      out->accepted(sent.bytes, now);
      self->moved(sent.bytes);
      if (sent.status == io_status::would_block || sent.bytes < wanted) {
        out->blocked(now);
        check_later(now);
        return;
      }
      out->unblocked();
      break;
    case io_status::closed:
      close("closed by the VM", true);
      return;
    case io_status::failed:
      close(std::system_category().message(sent.error), false);
      return;
    }
  }
}

void port_state::check_later(std::chrono::steady_clock::time_point now) {
  if (check_pending)
    return;
  if (const auto due = out->expire(now)) {
    check_pending = true;
    tell_after(self, *due - now, egress_check{});
  }
}

void port_state::on_check() {
  check_pending = false;
  if (closing)
    return;
  const auto now = now_of(self);
  // A link that ran out of kernel memory gets no event: try once more before anything expires.
  flush();
  if (!closing && out->is_blocked())
    check_later(now);
  tell_drops(now);
}

// Frames are lost by the thousand, or not at all: one event for all in a while.
void port_state::tell_drops(std::chrono::steady_clock::time_point now) {
  if (out->drops().total() == told_drops.total() ||
      (told_drops.total() > 0 && now - told_at < drop_event_interval))
    return;
  const auto fresh = out->drops() - told_drops;
  told_drops = out->drops();
  told_at = now;
  tell(config.supervisor,
       happened{{"drops",
                 {},
                 config.name,
                 {},
                 fmt::format("{} frames to it were dropped ({})", fresh.total(), summary(fresh))}});
}

void port_state::close(const std::string& why, bool orderly) {
  if (closing)
    return;
  closing = true;
  registration.reset();
  config.connection.reset();
  out->close();
  tell(config.vm_switch, detach_port{config.id});
  // Tools look whether we are alive by connecting and hanging up at once: not worth a line.
  const bool spoke = counters.frames_in > 0;
  note(!orderly ? port_note::what::failed
       : spoke  ? port_note::what::down
                : port_note::what::silent,
       "down: {} ({}; {})", why, peer, summary(totals()));
}

void port_state::change(const network_limits& limits) {
  in->change_budget(limits.slab_budget);
  out->change_limits(limits.egress_bursts, limits.egress_deadline);
  if (!closing)
    read(); // it may have been waiting for a slab that it can have now
}

port_counters port_state::totals() const {
  port_counters sum = counters;
  sum.frames_out = out->frames_out() - counters.drops[drop_reason::egress_refused];
  sum.bytes_out = out->bytes_out() - refused_bytes;
  sum.drops += out->drops();
  return sum;
}

void port_state::tell_counters(const report_counters& message) const {
  counters_report report{config.id, config.name, totals(), message.about, {}, out->waited(), {}};
  report.queue.frames = out->frames();
  if (const auto oldest = out->oldest())
    report.queue.oldest = now_of(self) - *oldest;
  report.queue.blocked = out->is_blocked();
  report.queue.stalled = out->stalled();
  tell(message.to, std::move(report));
}

caf::behavior make_port(pinned<port_state>* self, port_config config) {
  auto& state = state_of(self);
  state.start(std::move(config));
  return {
      [&state](const frames_out& message) { state.send(message.frames); },
      [&state](const frames_received& message) {
        if (state.closing) {
          state.counters.drops.add(drop_reason::port_closed, message.frames.frames());
          return;
        }
        if (!message.frames.empty())
          state.forward(message.frames);
        state.skip(message.skipped);
      },
      [&state](const link_dedicated& message) { state.on_dedicated(message); },
      [&state](const slab_returned&) {
        if (!state.closing)
          state.read();
      },
      [&state](const link_ready& message) { state.on_ready(message.ready); },
      [&state](const egress_check&) { state.on_check(); },
      [&state](const detached&) {
        state.close("detached from the switch", true);
        tell(state.config.supervisor,
             port_finished{state.config.id, state.totals(), state.out->waited()});
        state.self->quit();
      },
      [&state](const stop& message) { state.close(message.why, true); },
      [&state](const report_counters& message) { state.tell_counters(message); },
      [&state](const change_limits& message) { state.change(message.limits); },
      [&state](const set_port_flags& message) { tell(state.config.vm_switch, message); },
  };
}

} // namespace

caf::actor spawn_port(caf::actor_system& system, dispatch_queue* queue, port_config config) {
  return spawn_pinned<port_state>(system, queue,
                                  [config = std::move(config)](pinned<port_state>* self) mutable {
                                    return make_port(self, std::move(config));
                                  });
}

} // namespace vmswitch
