#pragma once

#include <memory>
#include <vector>

#include "actors/caf.hpp"
#include "actors/messages.hpp"
#include "vmnet/dhcp/dhcp_config.hpp"
#include "vmnet/forward/forward_table.hpp"
#include "vmnet/host_interface.hpp"

namespace vmswitch {

/// What a host actor is told about forwards.
struct forward_setup {
  host_config host;
  dhcp_config dhcp;
  std::vector<forward_rule> rules;        // those that there are from the beginning
  std::shared_ptr<forward_carrier> relay; // for a backend that carries none by itself; may be null
  std::shared_ptr<forward_carrier> (*make_relay)() = nullptr; // another one like it
};

/// The forwards of a network, in its host actor.
class host_forwards {
public:
  /// `backend` must outlive it. What there is to say of forwards is sent to `supervisor` as
  /// service_note.
  host_forwards(forward_setup setup, host_interface& backend, const caf::actor& supervisor);
  ~host_forwards();

  /// Opens those of the setup, once the backend is up: all of them, or the first error.
  result<void> open();

  result<void> add(const forward_rule& rule);

  /// Other reservations from now on.
  void change(const dhcp_config& dhcp);

  /// What another one like it, with those forwards that there are now, would be made of. Its relay
  /// is a new one, as this one's keeps its ports for as long as it lives.
  forward_setup remake() const;

  void add(const forward_add& message);
  void remove(const forward_remove& message);
  void list(const forward_list& message) const;

private:
  host_interface& backend_;
  forward_setup setup_;
  std::unique_ptr<forward_table> table_; // null where nothing can be carried
};

} // namespace vmswitch
