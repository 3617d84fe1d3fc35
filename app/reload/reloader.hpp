#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <tl/expected.hpp>

#include "app/reload/reload_report.hpp"
#include "transport/error.hpp"

namespace vmswitch {

/// Does one action, and calls `done` once, on the caller's thread; it may do so before it returns.
using reload_step =
    std::function<void(const reload_action& action, std::function<void(result<void>)> done)>;

/// Reads the configuration as at the start: file, with the command line laid over it. What stands
/// in for it are all mistakes, a line each.
using settings_loader = std::function<tl::expected<daemon_settings, std::vector<std::string>>()>;

/// Brings the running daemon to another configuration, one action after the other.
///
/// Theory of operation. A request reads the configuration anew, and compares it with what is in
/// effect; a mistake in it ends the request before anything has changed. The actions of the plan
/// are done in their order, each when the one before has been answered, or after
/// `action_patience`. One that fails leaves what it concerns as it was, and the others go on: what
/// is in effect is what has been done, and the next request tries the rest again.
///
/// One request is served at a time. Others wait, at most `most_waiting`; of those by which nobody
/// waits for an answer (signals) one at most, since it reads whatever the file is by then.
///
/// Everything happens on the thread of the I/O context.
class reloader {
public:
  static constexpr std::chrono::seconds action_patience{10};
  static constexpr std::size_t most_waiting = 16;

  using listener = std::function<void(const reload_report& report)>;

  /// `begins` and `ends` stand around each reload, but not around what only would be done.
  reloader(boost::asio::io_context& context, daemon_settings now, settings_loader load,
           reload_step perform, std::function<void()> begins, listener ends);

  /// Reloads, and writes into the log what comes of it. `done` is null for a signal.
  void reload(listener done);
  /// Answers with what reload() would do now, behind the requests that wait.
  void dry_run(listener done);
  /// No action begins any more; who waits is told that the daemon stops.
  void stop();

  /// What is in effect.
  const daemon_settings& settings() const noexcept { return now_; }
  bool is_running() const noexcept { return running_; }

private:
  struct request {
    bool is_dry = false;
    listener done; // null: a signal
  };

  void enter(request asked);
  void begin();
  void next();
  void on_done(std::size_t number, const reload_action& action, const result<void>& outcome);
  void finish();

  boost::asio::io_context& context_;
  daemon_settings now_;
  const settings_loader load_;
  const reload_step perform_;
  const std::function<void()> begins_;
  const listener ends_;
  std::deque<request> waiting_; // the first is being served while running_
  bool running_ = false;
  bool stopping_ = false;
  std::vector<reload_action> actions_; // of the request that is being served
  reload_report report_;
  std::size_t begun_ = 0; // actions ever, which number them
  bool answered_ = true;  // the last of them
  boost::asio::steady_timer patience_;
};

} // namespace vmswitch
