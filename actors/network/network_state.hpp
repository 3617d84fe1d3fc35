#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/complaint_limiter.hpp"
#include "actors/messages.hpp"
#include "actors/network/network_actor.hpp"
#include "transport/frame/ethernet.hpp"
#include "transport/listening_socket.hpp"

namespace vmswitch {

/// The network actor's own: see network_actor.hpp for what it does. Its functions lie in
/// network_actor.cpp (parts), network_listeners.cpp, network_ports.cpp, port_settings.cpp,
/// network_changes.cpp (while it is up), network_inspection.cpp (what it tells of itself) and
/// network_stages.cpp (the end).
struct network_state {
  // Lines about VMs that come and go; more are summed up.
  static constexpr std::size_t connection_lines = 50;
  static constexpr std::chrono::seconds connection_interval{10};

  explicit network_state(caf::stateful_actor<network_state>* actor) : self{actor} {}

  enum class phase : std::uint8_t {
    starting,
    up,
    stopping_listeners,
    stopping_ports,
    stopping_switch,
    stopping_host,
    down,
  };

  // Slot 0 is the host's, whose actor is `host`.
  struct slot {
    std::uint32_t generation = 0;
    caf::actor port; // null: free
    caf::actor listener;
    unix_address peer;
    std::uint32_t origin = 0; // of its listener
    port_brief brief;
  };
  struct listening {
    caf::actor actor; // null once ended: free
    listen_config config;
    std::uint64_t leaving = 0; // who asked for its end; 0: nobody
  };

  caf::stateful_actor<network_state>* self;
  network_config config;
  network_runtime runtime;
  phase now = phase::starting;
  std::uint32_t stage = 0; // counts phases, to tell an overdue stop from an old one

  caf::actor vm_switch;
  caf::actor host;
  std::vector<listening> listeners;
  std::vector<slot> slots{1};
  std::vector<std::uint32_t> free_slots;
  std::map<std::string, std::uint32_t> aliases; // the slots of ports that have one
  std::size_t ports = 0;
  std::size_t left_behind = 0;   // parts that did not stop in time
  std::uint64_t connections = 0; // names ports
  // What those who look in are told.
  std::string host_description;
  bool host_is_up = false;
  std::uint64_t host_restarts = 0;
  std::chrono::system_clock::time_point host_since{};
  port_counters gone; // of ports that have ended
  latency_histogram gone_waited;
  caf::actor inspector; // who asked last
  inquiry last_inquiry;
  complaint_limiter complaints{connection_lines, connection_interval};
  // Changes that a part has been asked for: what is so once it says that it has been done.
  std::unordered_map<std::uint64_t, std::function<void()>> asked;

  static constexpr const char* name = "network";

  void start();
  void start_host();
  void start_listeners();
  result<void> open_listeners();
  result<void> open_listener(listening_socket socket, const listen_config& opened);
  std::uint32_t origin_of(const connected& message) const;
  void on_host(const host_state& message);
  void on_connected(const connected& message);
  void on_note(const port_note& message);
  void on_port_ended(const port_ended& message);
  void on_change_port(const change_port& message);
  const caf::actor& port_at(std::uint32_t index) const {
    return index == 0 ? host : slots[index].port;
  }
  std::optional<std::uint32_t> slot_named(const std::string& port) const;
  void set_flags(std::uint32_t index, std::shared_ptr<port_reply> reply) const;
  void isolate(listening& changed, bool isolated);
  std::string alias_of(const std::string& port) const; // empty: it has none
  void on_part_ended(const part_ended& message);
  void on_inspect(const inspect_network& message);
  void on_port_finished(const port_finished& message);
  network_snapshot describe_self() const;
  void publish(daemon_event event) const;
  void on_change(const change_limits& message);
  void on_change(const change_services& message);
  void on_change(const change_host& message);
  void on_change(const change_access& message);
  void on_change(const add_forward& message);
  void on_change(const remove_forward& message);
  void on_change(const add_listener& message);
  void on_change(const remove_listener& message);
  void on_part_changed(const part_changed& message);
  void answer(std::uint64_t ticket, std::string failure);
  template <class Change>
  void change(const Change& message) {
    if (now == phase::up)
      on_change(message);
    else
      answer(message.ticket, "the network is not up");
  }
  void fail(network_event::cause cause, const error& why);
  std::vector<caf::actor> awaited() const;
  bool stage_is_over() const;
  void advance();
  void enter(phase next);
  void on_overdue(const stop_overdue& message);
  void report(network_event::what kind);
  void watch_part(const caf::actor& part, part_ended::part which, std::uint32_t index);
  std::uint32_t max_frame() const {
    return static_cast<std::uint32_t>(max_frame_for_mtu(config.host.mtu));
  }
  caf::actor me() const { return caf::actor{self}; }
};

/// Empty for an end in good order.
std::string text_of(caf::actor_system& system, const caf::error& reason);

} // namespace vmswitch
