#pragma once

#include <functional>
#include <optional>

#include "transport/error.hpp"
#include "vmnet/forward/forward_rule.hpp"

namespace vmswitch {

/// Carries forwards: listens on the host, and brings what comes there to an address.
///
/// All calls come from one thread, and none of them blocks. A forward is named by where it listens.
class forward_carrier {
public:
  virtual ~forward_carrier() = default;

  /// Listens, and leads nowhere until aim(): TCP connections are refused, datagrams dropped. The
  /// error says what to do where the place is taken, privileged, or none of this host's.
  virtual result<void> open(const forward_rule& rule) = 0;

  /// What comes from now on is for this address; none: for nobody. TCP connections that there are
  /// stay where they are. Fails, and leads nowhere, if the system refuses.
  virtual result<void> aim(const forward_listen& which, std::optional<ip_address> address) = 0;

  /// Ends the forward and what has come through it. `closed` is called once the place is free,
  /// maybe later, and maybe on another thread.
  virtual void close(const forward_listen& which, std::function<void()> closed) = 0;

  /// Nothing if it does not count.
  virtual std::optional<forward_traffic> traffic(const forward_listen& which) const = 0;
};

} // namespace vmswitch
