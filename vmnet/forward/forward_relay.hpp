#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>

#include "vmnet/forward/forward_carrier.hpp"
#include "vmnet/forward/relay_counters.hpp"

namespace vmswitch {

/// What a relay may use up, and how long it waits.
struct relay_limits {
  std::size_t each = 1024;  ///< TCP connections or UDP flows of one forward
  std::size_t total = 4096; ///< ... and of all together; two descriptors each at most
  std::chrono::milliseconds connect_time{10'000};
  /// A UDP flow that is silent for so long is forgotten (RFC 4787, REQ-5, recommends five minutes).
  std::chrono::milliseconds flow_time{300'000};

  /// A quarter as many in total as the process may have descriptors, if that is less.
  static relay_limits of_process();
};

/// Forwards by our own sockets, for VMs that the host's kernel reaches.
///
/// Theory of operation. One thread of its own runs all connections and flows, started with the
/// first forward; it sleeps while nothing happens. open() binds at once, so that its caller learns
/// whether that works; all else is posted to the thread. See tcp_relay and udp_relay.
///
/// Listening and target address may be of different families.
class forward_relay final : public forward_carrier {
public:
  explicit forward_relay(const relay_limits& limits = relay_limits::of_process());
  /// Ends all connections and waits for the thread, which never blocks.
  ~forward_relay() override;

  result<void> open(const forward_rule& rule) override;
  result<void> aim(const forward_listen& which, std::optional<ip_address> address) override;
  void close(const forward_listen& which, std::function<void()> closed) override;
  std::optional<forward_traffic> traffic(const forward_listen& which) const override;

private:
  struct engine;
  result<void> start();

  const relay_limits limits_;
  std::unique_ptr<engine> engine_; // null until the first forward
  std::map<forward_listen, std::shared_ptr<relay_counters>> counters_;
};

} // namespace vmswitch
