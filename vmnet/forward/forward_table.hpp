#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vmnet/forward/forward_carrier.hpp"
#include "vmnet/forward/vm_lookup.hpp"
#include "vmnet/service_note.hpp"

namespace vmswitch {

/// The forwards of a network, and where each leads to now.
///
/// Theory of operation. A forward listens from the moment it is added; where it leads to is looked
/// up then, and again whenever leases have changed (follow()). So it waits for a VM that has no
/// address yet, and goes with one that gets another. The carrier does the work.
///
/// A forward is the configuration's, or somebody's who added it meanwhile (`by`). The latter
/// becomes the configuration's, and goes on as it is, when that adds the same.
///
/// No lock: all on the carrier's thread.
class forward_table {
public:
  /// `carrier` must outlive it. `tell` is given what a person wants to know of targets.
  forward_table(forward_carrier& carrier, vm_lookup lookup,
                std::function<void(const service_note&)> tell)
      : carrier_{carrier}, lookup_{std::move(lookup)}, tell_{std::move(tell)} {}

  /// Fails if the place is taken, by a forward of ours or by somebody else, if there are
  /// most_forwards, or if the system refuses. @pre check_forward(rule)
  result<void> add(const forward_rule& rule, const std::string& by = {});

  /// Fails if there is none. `closed` as in forward_carrier::close.
  result<void> remove(const forward_listen& which, std::function<void()> closed);

  /// Sorted by where they listen.
  std::vector<forward_status> list() const;
  std::optional<forward_status> find(const forward_listen& which) const;

  /// Reservations have changed: VMs are looked up in this way from now on.
  void look_up_with(vm_lookup lookup);

  /// Leases have changed, in this way or (null) in any: has forwards lead to where their VMs are.
  void follow(const dhcp_event* what);

private:
  struct entry {
    forward_rule rule;
    std::string by;
    std::optional<found_vm> vm;
  };
  forward_status status(const entry& forward) const;
  void aim(entry& forward);

  forward_carrier& carrier_;
  vm_lookup lookup_;
  const std::function<void(const service_note&)> tell_;
  std::map<forward_listen, entry> forwards_;
};

} // namespace vmswitch
