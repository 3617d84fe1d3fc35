#pragma once

#include <memory>
#include <string>
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
  struct added {
    forward_rule rule;
    std::string by;
  };
  std::vector<added> more{}; // those that somebody has added since
};

/// The forwards of a network, in its host actor.
class host_forwards {
public:
  /// `backend` must outlive it. What there is to say of forwards is sent to `supervisor` as
  /// service_note, of kind "forward".
  host_forwards(forward_setup setup, host_interface& backend, const caf::actor& supervisor);
  ~host_forwards();

  /// Opens those of the setup, once the backend is up: all of them, or the first error.
  result<void> open();

  /// `by` as in forward_add.
  result<void> add(const forward_rule& rule, const std::string& by = {});

  /// Other reservations from now on.
  void change(const dhcp_config& dhcp);

  /// What another one like it, with those forwards that there are now, would be made of. Its relay
  /// is a new one, as this one's keeps its ports for as long as it lives.
  forward_setup remake() const;

  void add(const forward_add& message);
  void remove(const forward_remove& message);
  void list(const forward_list& message) const;
  std::vector<forward_status> list() const;

private:
  void tell_of(const forward_rule& rule, const char* what, const std::string& by) const;

  host_interface& backend_;
  forward_setup setup_;
  const caf::actor supervisor_;
  std::unique_ptr<forward_table> table_; // null where nothing can be carried
};

} // namespace vmswitch
