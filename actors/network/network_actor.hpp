#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actors/caf.hpp"
#include "actors/inspect/daemon_event.hpp"
#include "actors/network_config.hpp"
#include "transport/frame/slab.hpp"
#include "vmnet/make_host_interface.hpp"

namespace vmswitch {

/// What a network tells its owner, on any thread. The receiver must only send or post.
struct network_event {
  enum class what : std::uint8_t {
    up,      ///< switch, host and all listeners are there: VMs may come
    failed,  ///< it cannot come up, or cannot go on; it stops by itself
    down,    ///< everything has ended; `text` says what has not and was left behind, if anything
    changed, ///< the answer to the change with this ticket; `text` says why not, if it was not done
  } kind;
  std::string network;
  std::string text; // of `failed`: why, in words
  enum class cause : std::uint8_t { host, listener, running } why = cause::running; // of `failed`
  int code = 0;             // errno behind it, or 0
  std::uint64_t ticket = 0; // of `changed`
};

struct network_runtime {
  dispatch_queue* workers = nullptr; // ports, switch, listeners
  dispatch_queue* serial = nullptr;  // the host interface
  std::shared_ptr<slab_stock> stock;
  std::uint64_t seed = 0; // for the MAC table
  std::function<void(network_event)> report;
  /// Told what happens, on any thread, for those who watch; must only post. May be empty.
  std::function<void(daemon_event)> publish{};
  /// Another one than this is a test's.
  std::function<std::unique_ptr<host_interface>(const host_config&)> make_host =
      make_host_interface;
};

/// Brings up one network, looks after its actors, and takes it down again.
/// Accepts stop, changes, and the messages of its parts; see messages.hpp.
///
/// Theory of operation. Order up: switch, host, and, once the host is up, the listeners; then `up`
/// is reported. Order down: listeners, ports, switch, host, each stage when the one before has
/// ended; a stage that has not ended after `stage_deadline` is left behind, so a stuck VM cannot
/// hold up the end. Deaths: a port's frees its slot; a listener's or the switch's ends the network
/// (`failed`), since nothing can be forwarded or nobody can come any more; the host restarts its
/// backend by itself.
///
/// A change is done by the part that it concerns, while all others go on; it is answered with
/// `changed` when it is in force, or has been given up and all is as before.
caf::actor spawn_network(caf::actor_system& system, network_config config, network_runtime runtime);

} // namespace vmswitch
