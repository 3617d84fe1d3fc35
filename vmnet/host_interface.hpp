#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "transport/error.hpp"
#include "transport/frame/burst.hpp"
#include "transport/frame/frame_tally.hpp"
#include "transport/frame/mac_address.hpp"
#include "vmnet/service_note.hpp"
#include "vmnet/service_report.hpp"

namespace vmswitch {

struct dhcp_event;
class forward_carrier;
class lease_table;
struct service_note;

/// Where a host interface puts the frames that are for VMs. Lives as long as the interface.
class frame_sink {
public:
  virtual ~frame_sink() = default;
  /// Copies one frame (without prefix). Returns false if it was dropped, which has been counted:
  /// too short, too long, or no memory in the budget.
  virtual bool deliver(std::span<const std::byte> frame) = 0;
  /// Memory for one frame, to save that copy: at least one byte longer than the network's largest
  /// frame, so that a longer one shows. Empty if there is none; then deliver() does all, or counts
  /// the drop. Valid until the next call of anything here.
  virtual std::span<std::byte> room() { return {}; }
  /// The first `size` bytes of the last room() are a frame. Otherwise as deliver().
  virtual bool commit(std::size_t /*size*/) { return false; }
  /// False while the slab budget is nearly out: stop reading from the world, process() is called
  /// again when memory has come back.
  virtual bool has_room() const noexcept = 0;
};

/// The host's side of a network: what VMs reach beyond each other.
///
/// All calls come from one serial queue, so a backend needs no lock; none of them blocks. A backend
/// with timers and sockets of its own gathers them behind one descriptor.
class host_interface {
public:
  virtual ~host_interface() = default;

  /// Brings the backend up; frames for VMs go to `out` until stop(). On failure nothing is held
  /// and start() may be called again.
  virtual result<void> start(frame_sink& out) = 0;
  /// Takes it down; idempotent. Connections through it end.
  virtual void stop() noexcept = 0;

  /// Readable whenever process() has work; -1 if it never has any. Valid between start and stop.
  virtual int fd() const noexcept = 0;

  /// Does the work that is due. True if it stopped early, because its share is used up or because
  /// the sink has no room, and is to be called again soon (after room has come back). An error
  /// means that the backend has failed for good: stop() it, then start() may be tried again.
  virtual result<bool> process() = 0;

  /// Takes frames from VMs. Returns those that were refused (the caller counts them): not more than
  /// there are here; what was taken earlier and is refused after all may be among them.
  virtual frame_tally write(const burst& frames) = 0;

  /// The gateway's MAC address; the null address where there is no gateway. Valid once start() has
  /// succeeded.
  virtual mac_address address() const noexcept = 0;

  /// What the network's services know. May take a millisecond or two.
  virtual service_report services() const { return {}; }
  /// The records that its DNS answers by itself, in no order. As long.
  virtual std::vector<dns_entry> names() { return {}; }
  /// Takes over what outlives a change of the interface, such as leases, from the one that it is to
  /// replace. Before start().
  virtual void inherit(const host_interface& /*before*/) {}

  /// For the log: "user-mode NAT, 192.168.105.0/24, gateway 192.168.105.1".
  virtual std::string describe() const = 0;

  /// `tell` is called from then on with what there is to say beyond errors, within any other call.
  /// Before start().
  virtual void on_notes(const std::function<void(const service_note&)>& /*tell*/) {}

  /// What carries port forwards through the backend, from now on and over stop() and start(), as
  /// long as it lives. Null where the host's kernel reaches VMs by itself, or nobody does.
  virtual forward_carrier* forwards() noexcept { return nullptr; }

  /// Who has which address; null where none are given out.
  virtual const lease_table* leases() const noexcept { return nullptr; }
  /// `changed` is called after leases may have changed: with what has happened to one, or null if
  /// it may be any. Within start() or write(), and before frames that came later are written; it
  /// may use forwards().
  virtual void on_leases(const std::function<void(const dhcp_event*)>& /*changed*/) {}
};

} // namespace vmswitch
