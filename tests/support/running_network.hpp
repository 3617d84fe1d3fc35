#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "actors/caf.hpp"
#include "actors/network/network_actor.hpp"

namespace vmswitch::test {

/// One network with real threads, queues and sockets, in this process.
class running_network {
public:
  /// Spawns it; the caller waits for its events.
  explicit running_network(network_config config, std::size_t workers = 2,
                           decltype(network_runtime::make_host) make_host = make_host_interface);
  /// Stops it and waits until everything has ended.
  ~running_network();

  /// Blocks for the next event. A test that would wait for ever ends by its time-out.
  network_event next_event();
  /// Asks it to stop and blocks until it is down. True if it was up to then.
  void stop();

  /// Asks for a change (a message with a ticket) and blocks until it is answered.
  template <class Change>
  network_event change(Change message) {
    message.ticket = ++tickets_;
    tell(network_, std::move(message));
    return next_event();
  }

  slab_stock& stock() { return *stock_; }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<network_event> events_; // guarded by mutex_
  bool down_ = false;
  std::uint64_t tickets_ = 0;

  std::shared_ptr<slab_stock> stock_ = std::make_shared<slab_stock>(32);
  dispatch_queue workers_;
  dispatch_queue serial_;
  system_config configuration_;
  caf::actor_system system_;
  caf::actor network_;
};

} // namespace vmswitch::test
