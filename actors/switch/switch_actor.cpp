#include "actors/switch/switch_actor.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "actors/capture/capture_set.hpp"
#include "actors/complaint_limiter.hpp"
#include "actors/drop_report.hpp"
#include "actors/messages.hpp"
#include "actors/switch/flap_watch.hpp"
#include "actors/switch/forwarding.hpp"

namespace vmswitch {

namespace {

// An address that moves once is a VM that was reconnected; one that goes on moving is a loop or a
// duplicate address.
constexpr std::size_t lines_per_interval = 4;
constexpr std::chrono::seconds complaint_interval{10};
constexpr std::size_t events_per_second = 50;
// Of the MAC table, some 20 us of reading.
constexpr std::size_t places_per_run = 8192;

mac_table::limits table_limits(const network_limits& limits) {
  return {limits.macs, limits.macs_per_port, static_cast<std::uint32_t>(limits.mac_ageing.count())};
}

struct switch_state {
  explicit switch_state(pinned<switch_state>* actor) : self{actor} {}

  struct attachment {
    caf::actor port; // null: free
    port_id id;
    std::string name;
    drop_counters drops; // of frames that came from it; while it is down, of those to it too
  };

  pinned<switch_state>* self;
  std::string network;
  caf::actor_addr supervisor;
  std::optional<forwarding> table;
  std::vector<attachment> ports; // by slot
  drop_counters drops;           // of frames from ports that have gone
  complaint_limiter complaints{lines_per_interval, complaint_interval};
  complaint_limiter events{events_per_second, std::chrono::seconds{1}};
  flap_watch flaps;
  // The report that is being made: a large MAC table is read bit by bit.
  caf::actor report_to;
  switch_report unfinished;
  std::size_t read_up_to = 0;
  capture_set captures;

  static constexpr const char* name = "switch";

  void attach(const attach_port& message);
  void detach(const detach_port& message);
  void set_flags(const set_port_flags& message);
  void forward(const frames_in& message);
  void flood(const burst& frames);
  void start_capture(const capture_start& message);
  void complain(const forwarding::outcome& outcome, port_id from);
  void tell_event(const char* type, mac_address mac, port_id port, std::string text);
  std::string name_of(std::uint32_t slot) const {
    return slot < ports.size() && ports[slot].port ? ports[slot].name : "?";
  }
  drop_counters all_drops() const;
  std::uint32_t seconds() const;
  void begin_report(const report_counters& message);
  void go_on_with_report(std::uint64_t ticket);
};

drop_counters switch_state::all_drops() const {
  drop_counters sum = drops;
  for (const auto& each : ports)
    sum += each.drops;
  return sum;
}

std::uint32_t switch_state::seconds() const {
  const auto since = now_of(self).time_since_epoch();
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(since).count());
}

void switch_state::attach(const attach_port& message) {
  const auto slot = message.id.slot;
  if (slot >= ports.size())
    ports.resize(slot + 1);
  if (ports[slot].port)
    detach({ports[slot].id}); // its owner has forgotten to
  ports[slot] = {message.port, message.id, message.name, {}};
  table->attach(message.id, message.flags);
  captures.port_attached({slot, message.name}, capture_set::clock::now());
}

void switch_state::detach(const detach_port& message) {
  if (!table->attached(message.id))
    return;
  table->detach(message.id);
  captures.port_detached(message.id.slot, capture_set::clock::now());
  auto& gone = ports[message.id.slot];
  drops += gone.drops;
  tell(gone.port, detached{});
  gone = {};
}

// Who asks hears of a port that has gone by the end of `reply`.
void switch_state::set_flags(const set_port_flags& message) {
  if (!table->attached(message.id))
    return;
  table->change(message.id, message.flags);
  if (message.reply)
    message.reply->answer({port_answer::what::done, {}});
}

void switch_state::flood(const burst& frames) {
  const auto shared = caf::make_message(frames_out{frames});
  for (std::uint32_t slot = 0; slot < ports.size(); ++slot) {
    if (table->floods_to(slot))
      tell_shared(ports[slot].port, shared);
    else if (table->is_down(slot))
      ports[slot].drops.add(drop_reason::port_down, frames.frames());
  }
}

void switch_state::forward(const frames_in& message) {
  const auto outcome = table->process(message.from, message.frames, seconds());
  if (!captures.empty() && table->attached(message.from)) [[unlikely]]
    captures.record(message.from, message.frames, outcome, *table, capture_set::clock::now());
  for (auto& each : outcome.unicasts)
    tell(ports[each.slot].port, frames_out{std::move(each.frames)});
  if (outcome.flood)
    flood(*outcome.flood);
  if (outcome.drops.total() > 0)
    (table->attached(message.from) ? ports[message.from.slot].drops : drops) += outcome.drops;
  if (!outcome.moves.empty() || outcome.not_learned > 0)
    complain(outcome, message.from);
  for (const auto& mac : outcome.learned)
    tell_event("mac_learned", mac, message.from,
               fmt::format("{} is behind port {}", to_string(mac), name_of(message.from.slot)));
}

void switch_state::tell_event(const char* type, mac_address mac, port_id port, std::string text) {
  // Whoever floods the switch with new addresses does not flood those who watch.
  if (!events.judge(type, now_of(self)).say)
    return;
  if (const auto to = caf::actor_cast<caf::actor>(supervisor))
    tell(to, happened{{type, network, name_of(port.slot), to_string(mac), std::move(text)}});
}

void switch_state::start_capture(const capture_start& message) {
  std::vector<capture_tap::port> present;
  for (const auto& each : ports)
    if (each.port)
      present.push_back({each.id.slot, each.name});
  captures.start(message.tap, present, capture_set::clock::now());
}

void switch_state::complain(const forwarding::outcome& outcome, port_id from) {
  const auto now = now_of(self);
  for (const auto& move : outcome.moves) {
    tell_event("mac_moved", move.address, from,
               fmt::format("{} moved from port {} to {}", to_string(move.address),
                           name_of(move.from_slot), name_of(move.to_slot)));
    if (flaps.moved(move.address, now))
      tell_event("mac_flapping", move.address, from,
                 fmt::format("{} goes on moving: two VMs share it, or there is a loop",
                             to_string(move.address)));
    if (const auto verdict = complaints.judge("moved", now); verdict.say)
      spdlog::warn("network {}: {} moved from port {} to {}{}; if it goes on, two VMs share this "
                   "address or there is a loop",
                   network, to_string(move.address),
                   move.from_slot < ports.size() ? ports[move.from_slot].name : "?",
                   ports[move.to_slot].name, suppressed_note(verdict.suppressed));
  }
  if (outcome.not_learned > 0)
    if (const auto verdict = complaints.judge("not learned", now); verdict.say)
      spdlog::warn("network {}: port {} uses more MAC addresses than it may (macs_per_port, macs); "
                   "frames to the others are flooded{}",
                   network, ports[from.slot].name, suppressed_note(verdict.suppressed));
}

void switch_state::begin_report(const report_counters& message) {
  switch_report report;
  report.about = message.about;
  report.drops = all_drops();
  report.gone = drops;
  report.mac_count = table->table().size();
  for (const auto& each : captures.running())
    report.captures.push_back({each->request().id, each->request().port,
                               each->request().filter_text, each->began(), each->delivered(),
                               each->lost()});
  for (const auto& each : ports)
    if (each.port)
      report.ports.push_back({each.id, each.drops, table->table().size_behind(each.id.slot)});
  if (!message.scope.macs) {
    tell(message.to, std::move(report));
    return;
  }
  report_to = message.to;
  unfinished = std::move(report);
  read_up_to = 0;
  go_on_with_report(message.about.ticket);
}

void switch_state::go_on_with_report(std::uint64_t ticket) {
  if (!report_to || unfinished.about.ticket != ticket)
    return;
  read_up_to = table->table().visit_part(
      read_up_to, places_per_run, seconds(),
      [this](mac_address address, mac_table::slot behind, std::uint32_t age_s) {
        unfinished.macs.push_back({address, behind, age_s, {}});
      });
  if (read_up_to != 0) {
    tell(caf::actor{self}, report_more{ticket});
    return;
  }
  tell(std::exchange(report_to, {}), std::exchange(unfinished, {}));
}

} // namespace

caf::actor spawn_switch(caf::actor_system& system, dispatch_queue* queue, std::string network,
                        const network_limits& limits, std::uint64_t seed, caf::actor supervisor) {
  return spawn_pinned<switch_state>(
      system, queue,
      [network = std::move(network), limits, seed,
       events_to = supervisor ? supervisor->address()
                              : caf::actor_addr{}](pinned<switch_state>* self) -> caf::behavior {
        auto& state = state_of(self);
        state.network = network;
        state.supervisor = events_to;
        state.table.emplace(table_limits(limits), seed);
        return {
            [&state](const frames_in& message) { state.forward(message); },
            [&state](const attach_port& message) { state.attach(message); },
            [&state](const detach_port& message) { state.detach(message); },
            [&state](const set_port_flags& message) { state.set_flags(message); },
            [&state](const change_limits& message) {
              state.table->change(table_limits(message.limits));
            },
            [&state](const capture_start& message) { state.start_capture(message); },
            [&state](const capture_stop& message) {
              state.captures.stop(message.id, capture_set::clock::now());
            },
            [&state](const report_counters& message) { state.begin_report(message); },
            [&state](const report_more& message) { state.go_on_with_report(message.ticket); },
            [&state](const stop&) {
              state.captures.stop_all("the network stops", capture_set::clock::now());
              if (const auto dropped = state.all_drops(); dropped.total() > 0)
                spdlog::info("network {}: the switch dropped {}", state.network, summary(dropped));
              for (const auto& each : state.ports)
                if (each.port)
                  tell(each.port, detached{});
              state.self->quit();
            },
        };
      });
}

} // namespace vmswitch
