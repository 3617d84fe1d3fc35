#include "actors/listener/datagram_listener_actor.hpp"

#include <optional>
#include <system_error>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/complaint_limiter.hpp"
#include "actors/drop_report.hpp"
#include "actors/messages.hpp"
#include "transport/datagram_link.hpp"
#include "transport/datagram_target.hpp"
#include "transport/descriptor_reserve.hpp"
#include "transport/own_name.hpp"

namespace vmswitch {

namespace {

constexpr int receives_per_run = 16;
constexpr std::size_t bursts_before_port = 16;
constexpr std::chrono::seconds sweep_pause{1};
constexpr std::chrono::seconds refusal_pause{1};

struct datagram_listener_state {
  explicit datagram_listener_state(pinned<datagram_listener_state>* actor) : self{actor} {}

  struct peer {
    std::optional<uid_t> user;                                    // that it was met as
    std::optional<std::chrono::steady_clock::time_point> refused; // when: it has no port
    caf::actor port;                                  // null until the supervisor has made it
    std::vector<burst> waiting;                       // frames from before then
    std::weak_ptr<datagram_endpoint> heard_on;        // last
    std::weak_ptr<datagram_endpoint> answered_on;     // its port's
    std::weak_ptr<const datagram_target> answered_at; // until it has an endpoint for itself
    bool alone = false;                               // its port receives by itself
  };

  pinned<datagram_listener_state>* self;
  datagram_listener_config config;
  dispatch_queue::registration registration;
  dispatch_queue::registration retry_registration;
  std::shared_ptr<slab_pool> pool;
  slab_ref memory;
  std::uint32_t used = 0;
  datagram_batch batch;
  std::unordered_map<unix_address, peer> peers;
  std::chrono::steady_clock::time_point next_sweep{};
  drop_counters drops;
  complaint_limiter complaints{1, std::chrono::seconds{10}};

  static constexpr const char* name = "datagram_listener";

  void start(datagram_listener_config with);
  void receive();
  bool take_slab();
  void pass_on(datagram_arrival& arrival);
  void dedicate(peer& heard);
  peer* admit(const datagram_arrival& arrival);
  bool meet(const unix_address& address, peer& met);
  void complain_of(const error& reason);
  void on_peer_gone(const unix_address& address);
  static bool has_gone(const unix_address& address, const peer& known);
  void sweep();
  void on_port(const port_started& message);
  void close();
};

void datagram_listener_state::start(datagram_listener_config with) {
  config = std::move(with);
  const caf::actor_addr address = self->address();
  pool = slab_pool::create(config.stock, config.limits.slab_budget, [address] {
    if (auto listener = caf::actor_cast<caf::actor>(address))
      tell(listener, slab_returned{});
  });
  // The retry timer shares our readiness: a spurious call of either is cheap.
  self->on_ready([this](readiness) {
    if (!config.socket)
      return;
    config.socket->on_retry();
    receive();
  });
  auto watched = self->watch(config.socket->fd());
  auto retry_watched = self->watch(config.socket->retry_fd());
  if (watched && retry_watched) {
    registration = std::move(*watched);
    retry_registration = std::move(*retry_watched);
  } else {
    spdlog::error("{}: {}", config.socket->path(),
                  (watched ? retry_watched : watched).error().text);
    tell(caf::actor{self}, stop{}); // which ends the network
  }
}

// A slab with room; false while the budget is out.
bool datagram_listener_state::take_slab() {
  if (memory && memory->unique())
    used = 0;
  if (memory && slab::capacity - used >= prefix_size + config.max_frame)
    return true;
  memory = pool->acquire();
  used = 0;
  return static_cast<bool>(memory);
}

void datagram_listener_state::receive() {
  for (int i = 0; i < receives_per_run && config.socket; ++i) {
    if (!take_slab())
      return; // slab_returned goes on from here
    const auto got = config.socket->receive(memory, used, batch);
    drops.add(drop_reason::no_return_address, batch.no_return_address);
    if (batch.no_return_address > 0)
      if (const auto verdict = complaints.judge("unnamed", now_of(self)); verdict.say)
        spdlog::warn("{}: frames from a socket without a name cannot be answered; bind the "
                     "client's socket to a path (QEMU: local.path=){}",
                     config.socket->path(), suppressed_note(verdict.suppressed));
    std::size_t bytes = 0;
    for (auto& arrival : batch.arrivals) {
      bytes += arrival.frames.wire_bytes();
      pass_on(arrival);
    }
    self->moved(bytes);
    batch.clear();
    switch (got.status) {
    case datagram_socket::receive_status::more:
      break;
    case datagram_socket::receive_status::full:
      memory.reset();
      break;
    case datagram_socket::receive_status::drained:
      return;
    case datagram_socket::receive_status::failed:
      if (const auto verdict = complaints.judge("receive", now_of(self)); verdict.say)
        spdlog::error("{}: cannot receive: {}", config.socket->path(),
                      std::system_category().message(got.error));
      break; // others may still be heard
    }
  }
  if (config.socket)
    self->again({.readable = true});
}

void datagram_listener_state::pass_on(datagram_arrival& arrival) {
  peer* const known = admit(arrival);
  if (!known || !known->port) { // else they are the port's to count
    drops.add(drop_reason::runt, arrival.skipped.runts);
    drops.add(drop_reason::oversize, arrival.skipped.oversize);
    arrival.skipped = {};
  }
  if (!known) {
    drops.add(drop_reason::no_return_address, arrival.frames.frames());
    return;
  }
  if (arrival.frames.empty() && arrival.skipped.frames() == 0)
    return;
  peer& from = *known;
  if (from.port) {
    tell(from.port, frames_received{std::move(arrival.frames), arrival.skipped});
    dedicate(from);
  } else if (from.waiting.size() < bursts_before_port) {
    from.waiting.push_back(std::move(arrival.frames));
  } else {
    drops.add(drop_reason::ingress_exhausted, arrival.frames.frames());
  }
}

// Who has sent it; null if that is nobody whom we could answer.
datagram_listener_state::peer* datagram_listener_state::admit(const datagram_arrival& arrival) {
  auto [at, fresh] = peers.try_emplace(arrival.from);
  peer& from = at->second;
  const bool same_user = from.user == arrival.sender;
  if (fresh || from.refused) {
    if (!fresh && same_user && now_of(self) - *from.refused < refusal_pause)
      return nullptr;
    from.user = arrival.sender;
    from.heard_on = config.socket->heard_on();
    return meet(arrival.from, from) ? &from : nullptr;
  }
  if (same_user) {
    from.heard_on = config.socket->heard_on();
    return &from;
  }
  // Another user has either taken the name over, and is met when the old port has ended, or lies.
  if (const auto target = datagram_target::find(arrival.from, arrival.sender); !target)
    complain_of(target.error());
  else if (from.port)
    tell(from.port, stop{"another user's socket has its name"});
  return nullptr;
}

void datagram_listener_state::complain_of(const error& reason) {
  if (const auto verdict = complaints.judge("refused", now_of(self)); verdict.say)
    spdlog::warn("{}: frames are dropped: {}{}", config.socket->path(), reason.text,
                 suppressed_note(verdict.suppressed));
}

// Worth a try when a peer is heard for the second time: whoever says hello and no more, such as a
// tool that looks whether we are alive, costs nothing.
void datagram_listener_state::dedicate(peer& heard) {
  const auto own = heard.answered_on.lock();
  const auto target = heard.answered_at.lock();
  if (!own || !target)
    return;
  const auto done = config.socket->dedicate(*target, *own);
  heard.alone = heard.alone || done == datagram_endpoint::dedication::both;
  if (done != datagram_endpoint::dedication::none)
    tell(heard.port, link_dedicated{done == datagram_endpoint::dedication::both});
}

// False if it cannot be answered; it is remembered as refused, so that a flood costs little.
bool datagram_listener_state::meet(const unix_address& address, peer& met) {
  met.refused = now_of(self);
  if (own_name::includes(address)) {
    complain_of({fmt::format("frames from {}, a socket of this daemon: a client has put it in the "
                             "place of its own",
                             to_string(address))});
    return false;
  }
  sweep();
  if (only_reserve_left(config.socket->fd())) {
    complain_of({"no descriptors are left for more VMs; raise the limit of open files (ulimit -n, "
                 "LimitNOFILE)"});
    return false;
  }
  auto target = datagram_target::find(address, met.user);
  if (!target) {
    complain_of(target.error());
    return false;
  }
  met.refused.reset();
  auto endpoint = config.socket->claim(met.heard_on.lock());
  met.answered_on = endpoint;
  met.answered_at = *target;
  tell(config.supervisor, connected{std::make_shared<datagram_link>(
                                        config.socket, std::move(*target), std::move(endpoint)),
                                    config.socket->path(), caf::actor{self}, address});
  return true;
}

// A VM that was started anew under the same name has connected to another endpoint: its old port
// found that out and ended. It has been heard already, so it need not speak first again.
void datagram_listener_state::on_peer_gone(const unix_address& address) {
  const auto at = peers.find(address);
  if (at == peers.end())
    return;
  const auto heard = at->second.heard_on.lock();
  const bool anew = config.socket && heard && heard != at->second.answered_on.lock() &&
                    !datagram_socket::is_dead(address);
  const auto user = at->second.user;
  at->second = {};
  at->second.user = user;
  at->second.heard_on = heard;
  if (!anew || !meet(address, at->second))
    peers.erase(at);
}

// One that has an endpoint for itself needs its name no more, and may have removed it.
bool datagram_listener_state::has_gone(const unix_address& address, const peer& known) {
  const auto own = known.answered_on.lock();
  return datagram_socket::is_dead(address) && (!known.alone || !own || own->abandoned());
}

// A peer that nobody sends to is not seen going. When a new one comes, look after the others, so
// that clients which come and go do not use up the ports; not for each of a flood of new ones.
void datagram_listener_state::sweep() {
  const auto now = now_of(self);
  if (now < next_sweep)
    return;
  next_sweep = now + sweep_pause;
  std::erase_if(peers, [now](const auto& each) {
    return each.second.refused && now - *each.second.refused >= refusal_pause;
  });
  for (auto& [address, known] : peers)
    if (known.port && has_gone(address, known))
      tell(known.port, stop{"its socket has gone"});
}

void datagram_listener_state::on_port(const port_started& message) {
  const auto at = peers.find(message.peer);
  if (at == peers.end())
    return;
  peer& known = at->second;
  known.port = message.port;
  for (burst& each : known.waiting)
    if (known.port)
      tell(known.port, frames_received{std::move(each)});
    else
      drops.add(drop_reason::ingress_exhausted, each.frames());
  known.waiting = {};
  if (!known.port)
    peers.erase(at);
}

void datagram_listener_state::close() {
  registration.reset();
  retry_registration.reset();
  if (config.socket) {
    config.socket->withdraw();
    spdlog::log(drops.total() > 0 ? spdlog::level::info : spdlog::level::debug,
                "{}: closed; dropped: {}", config.socket->path(), summary(drops));
  }
  config.socket.reset();
  memory.reset();
}

} // namespace

caf::actor spawn_datagram_listener(caf::actor_system& system, dispatch_queue* queue,
                                   datagram_listener_config config) {
  return spawn_pinned<datagram_listener_state>(
      system, queue,
      [config = std::move(config)](pinned<datagram_listener_state>* self) mutable -> caf::behavior {
        auto& state = state_of(self);
        state.start(std::move(config));
        return {
            [&state](const port_started& message) { state.on_port(message); },
            [&state](const peer_gone& message) { state.on_peer_gone(message.peer); },
            [&state](const slab_returned&) { state.receive(); },
            [&state](const stop&) {
              state.close();
              state.self->quit();
            },
            [&state](const change_limits& message) {
              state.config.limits = message.limits;
              state.pool->change_budget(message.limits.slab_budget);
              state.receive();
            },
            [&state](const change_access& message) {
              const auto done = state.config.socket
                                    ? state.config.socket->change_access(message.access)
                                    : fail("the socket is closed");
              tell(state.config.supervisor,
                   part_changed{message.ticket, done ? std::string{} : done.error().text});
            },
            [&state](const report_counters& message) {
              counters_report report{{}, "datagram listener", {}, message.about, {}, {}, {}};
              report.counters.drops = state.drops;
              tell(message.to, std::move(report));
            },
        };
      });
}

} // namespace vmswitch
