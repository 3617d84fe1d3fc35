#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "actors/caf.hpp"
#include "actors/inspect/daemon_event.hpp"
#include "actors/network/network_actor.hpp"

namespace vmswitch {

/// The networks of a daemon, and the threads that they run on.
///
/// Lives on the thread of its I/O context, where all calls come from and go to. Each request is
/// answered once, later; nothing blocks. A network that cannot start takes itself down before that
/// is told, so that what it had opened is free. Destruction waits for the end of all networks,
/// which must have been asked for.
class network_fleet {
public:
  /// `event` is the last one of what was asked for: up, changed or down if it was done; else failed
  /// (or changed, with a text).
  using answer = std::function<void(const network_event& event)>;

  /// Throws std::system_error when the system has no more threads or descriptors.
  /// `failed` hears of networks that were up and cannot go on: they go down by themselves.
  /// `publish` is given what happens, on any thread, until join().
  network_fleet(boost::asio::io_context& context, std::size_t workers, answer failed,
                std::function<void(daemon_event)> publish = {});
  network_fleet(const network_fleet&) = delete;
  network_fleet& operator=(const network_fleet&) = delete;
  ~network_fleet();

  void add(const network_config& config, answer done);
  void remove(const std::string& name, answer done);
  /// `Change` is one of the messages with a ticket, which is filled in.
  template <class Change>
  void change(const std::string& name, Change message, const answer& done) {
    if (auto* changed = begin_change(name, done)) {
      message.ticket = changed->ticket;
      tell(changed->actor, std::move(message));
    }
  }

  /// Asks all networks to stop, those too that are being added; `down` is called when none is left.
  void stop_all(std::function<void()> down);

  /// Waits for the end of all actors. Networks must have been asked for theirs; nothing is possible
  /// afterwards.
  void join();

  std::size_t size() const noexcept { return networks_.size(); }

  /// Looks into the networks; see the message `inspect`. May be told from any thread until join().
  const caf::actor& inspector() const noexcept { return inspector_; }
  /// Changes forwards; see forward_order. Likewise.
  const caf::actor& forward_desk() const noexcept { return forward_desk_; }

  /// From any thread; there may be no such network, or no more.
  template <class Message>
  void tell_network(const std::string& name, Message message) {
    boost::asio::post(context_, [this, name, message = std::move(message)] {
      if (const auto* found = find(name))
        tell(found->actor, message);
    });
  }

private:
  struct network {
    std::string name;
    caf::actor actor;
    std::unique_ptr<dispatch_queue> serial; // of its host interface; null if it has none
    bool is_up = false;
    network_event failure; // why it did not come up, until it is down
    answer on_up;
    answer on_down;
    answer on_changed;
    std::uint64_t ticket = 0; // of the change under way
  };

  network* find(const std::string& name);
  network* begin_change(const std::string& name, const answer& done);
  void on_event(const network_event& event);
  void on_down(const network_event& event);
  void watch_all();
  void publish(const char* kind, const network_event& event, std::string text);

  boost::asio::io_context& context_;
  const answer failed_;
  const std::function<void(daemon_event)> publish_;
  std::function<void()> all_down_;
  std::uint64_t last_ticket_ = 0;
  // Members go in reverse: actors before what they run on.
  std::shared_ptr<slab_stock> stock_;
  dispatch_queue workers_;
  std::vector<std::unique_ptr<dispatch_queue>> busy_; // of networks that left something behind
  system_config configuration_;
  caf::actor_system system_;
  caf::actor inspector_;
  caf::actor forward_desk_;
  std::vector<std::unique_ptr<network>> networks_;
};

} // namespace vmswitch
