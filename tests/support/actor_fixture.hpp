#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "actors/caf.hpp"
#include "actors/messages.hpp"
#include "transport/frame/slab.hpp"

namespace vmswitch::test {

/// Actors without threads: nothing happens but in run(), and time passes only in advance(). Pinned
/// actors are spawned with a null queue, so that CAF's deterministic scheduler runs them.
class actor_fixture {
public:
  actor_fixture();
  ~actor_fixture();

  caf::actor_system& system();
  /// Runs whatever is ready until nothing is.
  void run();
  /// Lets time pass, then runs what has become due and all that follows from it.
  void advance(std::chrono::nanoseconds by);

  const std::shared_ptr<slab_stock>& stock() const noexcept { return stock_; }

private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
  std::shared_ptr<slab_stock> stock_ = std::make_shared<slab_stock>(16);
};

/// An actor that keeps what it is sent. Messages are copied out, so their slabs stay referenced
/// until clear().
struct probe {
  explicit probe(actor_fixture& fixture);
  ~probe();
  void clear();

  caf::actor handle;
  struct log {
    std::vector<frames_in> in;
    std::vector<frames_out> out;
    std::vector<attach_port> attaches;
    std::vector<detach_port> detaches;
    std::vector<port_note> notes;
    std::size_t detached = 0;
    std::vector<counters_report> reports;
    std::vector<switch_report> switch_reports;
    std::vector<port_finished> finished;
    std::vector<port_started> started;
  };
  log& seen() { return *log_; }

private:
  std::shared_ptr<log> log_ = std::make_shared<log>();
};

} // namespace vmswitch::test
