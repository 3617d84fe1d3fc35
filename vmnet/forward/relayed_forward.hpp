#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp> // Asio: timers and readiness, portably

#include "vmnet/forward/forward_relay.hpp"
#include "vmnet/forward/socket_address.hpp"

namespace vmswitch {

/// What the forwards of one relay share. For its thread only.
struct relay_context {
  explicit relay_context(const relay_limits& wanted) : limits{wanted} {}

  boost::asio::io_context io{1};
  const relay_limits limits;
  std::size_t open = 0;                 ///< connections and flows, at most limits.total
  std::array<std::byte, 65536> scratch; ///< for what is read and written in one go
};

/// One forward in the relay's thread.
class relayed_forward {
public:
  virtual ~relayed_forward() = default;
  virtual void aim(std::optional<ip_address> address) = 0;
  /// Closes its sockets, and all connections or flows, at once.
  virtual void close() = 0;
};

/// `listening` is bound, and listens if it is one for TCP.
std::shared_ptr<relayed_forward> make_tcp_relay(relay_context& context, const forward_rule& rule,
                                                owned_fd listening,
                                                std::shared_ptr<relay_counters> counters);
std::shared_ptr<relayed_forward> make_udp_relay(relay_context& context, const forward_rule& rule,
                                                owned_fd listening,
                                                std::shared_ptr<relay_counters> counters);

/// The address as Asio has it.
template <class Protocol>
typename Protocol::endpoint endpoint_of(const ip_address& address, std::uint16_t port) {
  const socket_address made{address, port};
  typename Protocol::endpoint endpoint;
  endpoint.resize(made.size);
  std::memcpy(endpoint.data(), made.get(), made.size);
  return endpoint;
}

} // namespace vmswitch
