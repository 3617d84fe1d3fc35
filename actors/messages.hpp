#pragma once

/// Every message of the program, but for those of a reload (change_messages.hpp): what it says, who
/// sends it to whom. Plain structs, passed inside the process only; handlers take them by const
/// reference. Data messages are sent anonymously.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/caf.hpp"
#include "actors/change_messages.hpp"
#include "actors/inspect/daemon_event.hpp"
#include "actors/inspect/reports.hpp"       // the answers to report_counters and inspect_network
#include "actors/network/forward_order.hpp" // anyone -> forward desk
#include "actors/port_change.hpp"           // change_port, and its answer
#include "actors/port_flags.hpp"
#include "actors/port_id.hpp"
#include "transport/error.hpp"
#include "transport/frame/burst.hpp"
#include "transport/frame/port_counters.hpp"
#include "transport/frame/skipped_frames.hpp"
#include "transport/link.hpp"
#include "transport/unix_address.hpp"
#include "vmnet/forward/forward_rule.hpp"
#include "vmnet/service_note.hpp" // host -> supervisor, for the log

namespace vmswitch {

class capture_tap;

// -- data path --------------------------------------------------------------------------------

/// port, host -> switch: these frames came in from my VM (from the host).
struct frames_in {
  port_id from;
  burst frames;
};
/// switch -> port, host: these frames are for your VM (for the host). One object may go to many.
struct frames_out {
  burst frames;
};
/// datagram listener -> port: these frames came from your peer, and some that are none here.
struct frames_received {
  burst frames; // may be empty
  skipped_frames skipped{};
};

/// datagram listener -> port, behind its last frames_received if `reads`: your link's medium is its
/// peer's alone (link::dedicate).
struct link_dedicated {
  bool reads = false;
};

// -- a port's own clockwork -------------------------------------------------------------------

/// slab pool -> its port: a slab has come back, read on.
struct slab_returned {};
/// link without descriptor -> its port.
struct link_ready {
  readiness ready;
};
/// port -> itself, when its oldest waiting frame may be too old.
struct egress_check {};

// -- life of a port ---------------------------------------------------------------------------

/// port, host -> switch, before their first frames: a new port.
struct attach_port {
  port_id id;
  caf::actor port;
  std::string name;
  port_flags flags{};
};
/// supervisor -> port, host -> switch, behind attach_port: the port's flags from now on.
struct set_port_flags {
  port_id id;
  port_flags flags;
  std::shared_ptr<port_reply> reply; // told when they are in force; may be null
};
/// port, supervisor -> switch: this port forwards no more. Known or not.
struct detach_port {
  port_id id;
};
/// switch -> port, after detach_port: nothing more will come from me.
struct detached {};
/// supervisor -> port, host, switch, listener: end in good order. `why` is for a port's log line.
struct stop {
  std::string why = "the network stops";
};
/// listener -> supervisor: a VM has connected.
struct connected {
  std::shared_ptr<link> connection; // handed over: the sender keeps none
  std::string via;                  // the listener's socket, for the log
  caf::actor listener;              // to be told port_started
  unix_address peer;                // the listener's name for it; unnamed on a stream
};
/// supervisor -> listener, for `connected`: its port, or null if there is no room for one.
struct port_started {
  unix_address peer;
  caf::actor port;
};
/// port -> supervisor: something for the log, which the supervisor writes, so that VMs that come
/// and go or misbehave by the thousand fill no log.
struct port_note {
  enum class what : std::uint8_t { up, down, silent, failed } kind; // silent: never sent a frame
  std::string text;
  std::string port; // its name
};
/// port -> supervisor, with its last breath: its final counters.
struct port_finished {
  port_id id;
  port_counters counters;
  latency_histogram waited;
};
/// port's watcher -> supervisor.
struct port_ended {
  port_id id;
  std::string failure; // empty when it ended in good order
};
/// supervisor -> datagram listener: the peer's port has gone; its next frame makes a new one.
struct peer_gone {
  unix_address peer;
};

// -- life of a network ------------------------------------------------------------------------

/// host -> supervisor: the backend is up (`failure` empty), or why it is not.
struct host_state {
  std::string description;
  std::string failure;
  int code = 0;               // errno behind it, or 0
  bool is_of_forward = false; // the backend is up, but a port forward of the configuration is not
};
/// host -> itself: try to start the backend again.
struct host_restart {};
/// watchers -> supervisor: the switch, the host or a listener has ended.
struct part_ended {
  enum class part : std::uint8_t { vm_switch, host, listener } which;
  std::uint32_t index = 0; // of the listener
  std::string failure;
};
/// listener -> itself: accept again after a shortage of descriptors.
struct accept_again {};
/// supervisor -> itself: this stage of shutting down has taken long enough.
struct stop_overdue {
  std::uint32_t stage = 0;
};

// -- port forwards ----------------------------------------------------------------------------
// Anyone may ask a network, which hands on to its host; the answer goes to `to`, and has the `tag`.

/// anyone -> network -> host: listen and forward from now on (forward_answer).
struct forward_add {
  forward_rule rule;
  caf::actor to;
  std::uint64_t tag = 0;
  std::string by{}; // for people; empty: the configuration
};
/// anyone -> network -> host: end this forward and its connections (forward_answer, once the port
/// is free). The configuration ends its own only; what is not (or no more) is as it wants it.
struct forward_remove {
  forward_listen listen;
  caf::actor to;
  std::uint64_t tag = 0;
  std::string by{}; // as in forward_add
};
/// anyone -> network -> host: tell your forwards (forward_listing).
struct forward_list {
  caf::actor to;
  std::uint64_t tag = 0;
};
/// host, network -> whoever added or removed: done (`failure` empty), or why not.
struct forward_answer {
  std::uint64_t tag = 0;
  std::string failure;
  int code = 0; // errno behind it, or 0
};
/// host, network -> whoever asked for a list. Sorted by where they listen.
struct forward_listing {
  std::uint64_t tag = 0;
  std::vector<forward_status> forwards;
};

/// forward desk -> itself: this order has waited for long enough.
struct forward_overdue {
  std::uint64_t tag = 0;
};

/// switch, port -> supervisor: something for those who watch, and not for the log. Limited by the
/// sender.
struct happened {
  daemon_event event;
};

// -- captures ---------------------------------------------------------------------------------

/// anyone -> network -> switch: record frames into this tap, which also takes what goes wrong.
struct capture_start {
  std::shared_ptr<capture_tap> tap; // handed over: the sender keeps none
};
/// anyone -> network -> switch: end the capture with this id. Known or not.
struct capture_stop {
  std::uint64_t id = 0;
};

// -- looking in -------------------------------------------------------------------------------

/// anyone -> port, host, datagram listener, switch: tell `to` your counters (counters_report, from
/// the switch a switch_report). `scope` says what else is wanted.
struct report_counters {
  caf::actor to;
  inquiry about{};
  inspection_scope scope{};
};
/// switch -> itself: go on with the report of a large MAC table.
struct report_more {
  std::uint64_t ticket = 0;
};
/// inspector -> network: tell me of yourself (network_report), and have your parts do so.
struct inspect_network {
  caf::actor to;
  inquiry about;
  inspection_scope scope;
};
/// daemon -> inspector, forward desk: these networks there are.
struct watched_network {
  std::string name;
  caf::actor network;
};
struct watch_networks {
  std::vector<watched_network> networks;
};
/// anyone -> inspector: look, and call `done`, on any thread, which must only send or post. It may
/// never be called if the daemon ends meanwhile.
struct inspect {
  inspection_scope scope;
  std::function<void(std::shared_ptr<const daemon_snapshot>)> done;
};
/// inspector -> itself: begin the next round; this one has taken long enough.
struct inspection_due {};
struct inspection_overdue {
  std::uint64_t ticket = 0;
};

} // namespace vmswitch

// Local-only types: 0.17 needs the second macro, 1.x both.
CAF_BEGIN_TYPE_ID_BLOCK(vmswitch_messages, first_custom_type_id)
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::frames_in))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::frames_out))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::frames_received))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::link_dedicated))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::slab_returned))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::link_ready))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::egress_check))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::attach_port))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::detach_port))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::change_port))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::set_port_flags))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::detached))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::stop))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::connected))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::port_started))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::port_note))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::port_ended))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::peer_gone))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::host_state))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::host_restart))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::service_note))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::part_ended))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::accept_again))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::stop_overdue))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::capture_start))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::capture_stop))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::report_counters))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::counters_report))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::forward_add))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::forward_remove))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::forward_list))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::forward_answer))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::forward_listing))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::forward_order))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::forward_overdue))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::happened))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::report_more))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::switch_report))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::network_report))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::port_gone))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::port_finished))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::inspect_network))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::watch_networks))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::inspect))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::inspection_due))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::inspection_overdue))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::change_limits))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::add_listener))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::remove_listener))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::change_access))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::change_services))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::change_host))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::add_forward))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::remove_forward))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::adjust_host))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::replace_host))
CAF_ADD_TYPE_ID(vmswitch_messages, (vmswitch::part_changed))
CAF_END_TYPE_ID_BLOCK(vmswitch_messages)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::frames_in)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::frames_out)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::frames_received)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::link_dedicated)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::slab_returned)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::link_ready)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::egress_check)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::attach_port)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::detach_port)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::change_port)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::set_port_flags)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::detached)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::stop)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::connected)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::port_started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::port_note)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::port_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::peer_gone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::host_state)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::host_restart)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::service_note)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::part_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::accept_again)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::stop_overdue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::capture_start)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::capture_stop)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::report_counters)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::counters_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::forward_add)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::forward_remove)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::forward_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::forward_answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::forward_listing)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::forward_order)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::forward_overdue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::happened)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::report_more)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::switch_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::network_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::port_gone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::port_finished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::inspect_network)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::watch_networks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::inspect)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::inspection_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::inspection_overdue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::change_limits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::add_listener)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::remove_listener)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::change_access)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::change_services)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::change_host)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::add_forward)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::remove_forward)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::adjust_host)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::replace_host)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(vmswitch::part_changed)
