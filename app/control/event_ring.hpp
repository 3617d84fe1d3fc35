#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "actors/inspect/daemon_event.hpp"
#include "app/control/http_types.hpp"

namespace vmswitch {

/// The last events, for any number of watchers.
///
/// Theory of operation. Events have numbers and are kept in one ring; a watcher is a position in
/// it. So a watcher that is slow costs nothing and holds nothing up: when it comes back, what it
/// has missed is the number of events that have left the ring meanwhile, which it is told. One
/// that was cut off says where it was (Last-Event-ID) and goes on from there. One thread.
class event_ring {
public:
  static constexpr std::size_t capacity = 1024;

  void add(const daemon_event& event, std::chrono::system_clock::time_point now);
  /// Events that got lost before they came here, as one more event.
  void add_lost(std::uint64_t count, std::chrono::system_clock::time_point now);

  /// The number of the latest event; 0 before the first.
  std::uint64_t latest() const noexcept { return last_; }

  /// Appends those behind `after` to `out`, as server-sent events (HTML standard, 9.2), up to some
  /// 64 KiB; returns the number of the last one that is in there.
  std::uint64_t read(std::uint64_t after, std::string& out) const;

  /// A stream of what comes behind number `after`. The ring must outlive it.
  std::unique_ptr<stream_source> watch(std::uint64_t after);

private:
  class watcher;
  void append(std::string type, std::string json);

  struct entry {
    std::string type;
    std::string json; // one line
  };
  std::deque<entry> entries_; // the last one has number last_
  std::uint64_t last_ = 0;
  std::list<watcher*> watchers_;
};

} // namespace vmswitch
