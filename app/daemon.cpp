#include "app/daemon.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "actors/messages.hpp"
#include "app/control/control_path.hpp"
#include "app/control/control_server.hpp"
#include "app/logging.hpp"
#include "app/network_fleet.hpp"
#include "app/pidfile.hpp"
#include "app/privileges.hpp"
#include "app/reload/fleet_step.hpp"
#include "app/sd_notify.hpp"
#include "app/shortage.hpp"

namespace vmswitch {

namespace asio = boost::asio;

namespace {

constexpr suseconds_t stop_deadline_us = 900'000; // and one second

void mask_hangups(int how) {
  sigset_t hangup;
  ::sigemptyset(&hangup);
  ::sigaddset(&hangup, SIGHUP);
  ::pthread_sigmask(how, &hangup, nullptr);
}

// Every VM is a descriptor or two: take what the system lets us have.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool lacks_permission(int code) {
  return code == EACCES || code == EPERM;
}

exit_code code_for(const error& failure) {
  return lacks_permission(failure.code) ? exit_code::no_permission : exit_code::cannot_create;
}

exit_code code_for(const network_event& failure) {
  if (lacks_permission(failure.code))
    return exit_code::no_permission;
  switch (failure.why) {
  case network_event::cause::host:
    return exit_code::unavailable;
  case network_event::cause::listener:
    return exit_code::cannot_create;
  case network_event::cause::running:
    break;
  }
  return exit_code::os_error;
}

// The last resort, should even destructors hang. Only what a signal handler may call.
void end_now(int) {
  constexpr std::string_view text = "vmswitchd: not everything stopped in time; ending anyway\n";
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
  ::_exit(static_cast<int>(exit_code::os_error));
}

void end_within_deadline() {
  std::signal(SIGALRM, end_now);
  const itimerval deadline{{0, 0}, {1, stop_deadline_us}};
  ::setitimer(ITIMER_REAL, &deadline, nullptr);
}

// Lives on the main thread.
class daemon {
public:
  daemon(const daemon_settings& settings, settings_loader load)
      : settings_{settings}, fleet_{context_, worker_count(settings),
                                    [this](const network_event& event) { on_failed(event); },
                                    [this](daemon_event event) { publish(std::move(event)); }},
        reloader_{context_,
                  settings,
                  std::move(load),
                  [this](const reload_action& action, std::function<void(result<void>)> done) {
                    perform(action, fleet_, std::move(done));
                  },
                  [this] { on_reload(); },
                  [this](const reload_report& report) { on_reloaded(report); }},
        signals_{context_, SIGTERM, SIGINT, SIGHUP} {
    mask_hangups(SIG_UNBLOCK);
  }

  exit_code run() {
    keep_order([this] { start(); });
    while (!context_.stopped())
      keep_order([this] { context_.run(); });
    fleet_.join(); // whose actors publish to the control server
    control_.reset();
    return result_;
  }

private:
  void start() {
    if (const auto prepared = acquire_pidfile().and_then([this] { return open_control(); })) {
      await_signal();
      for (const auto& network : settings_.networks)
        fleet_.add(network, [this](const network_event& event) { on_started(event); });
    } else {
      spdlog::error("{}", prepared.error().text);
      result_ = code_for(prepared.error());
      context_.stop();
    }
  }

  // What is lacking here ends the daemon, but what it has made is removed.
  template <class Step>
  void keep_order(Step step) {
    try {
      step();
    } catch (const std::exception& thrown) {
      spdlog::error("{}", shortage(thrown).text);
      if (result_ == exit_code::ok)
        result_ = exit_code::os_error;
      stop();
    }
  }

  result<void> acquire_pidfile() {
    if (!settings_.pidfile)
      return {};
    auto acquired = pidfile::acquire(*settings_.pidfile);
    if (!acquired)
      return tl::unexpected{acquired.error()};
    pidfile_.emplace(std::move(*acquired));
    return {};
  }

  // Fails if one was asked for that cannot be had.
  result<void> open_control() {
    control_hooks hooks;
    hooks.inspect = [inspector = fleet_.inspector()](inspection_scope scope, auto done) {
      tell(inspector, inspect{scope, std::move(done)});
    };
    hooks.log_level_now = current_log_level;
    hooks.set_log_level = set_log_level;
    hooks.reload = [this](bool dry_run, reloader::listener done) {
      asio::post(context_, [this, dry_run, done = std::move(done)] { reload(dry_run, done); });
    };
    hooks.order_forward = [desk = fleet_.forward_desk()](forward_order order) {
      tell(desk, std::move(order));
    };
    hooks.start_capture = [this](const std::string& network, std::shared_ptr<capture_tap> tap) {
      fleet_.tell_network(network, capture_start{std::move(tap)});
    };
    hooks.stop_capture = [this](const std::string& network, std::uint64_t id) {
      fleet_.tell_network(network, capture_stop{id});
    };
    hooks.change_port = [this](const std::string& network, change_port wanted) {
      fleet_.tell_network(network, std::move(wanted));
    };
    auto made = vmswitch::open_control(settings_.control, std::move(hooks));
    if (!made)
      return tl::unexpected{made.error()};
    control_ = std::move(*made);
    return {};
  }

  // On any thread.
  void publish(daemon_event event) {
    if (control_)
      control_->publish(std::move(event));
  }

  void on_started(const network_event& event) {
    if (event.kind == network_event::what::failed)
      on_failed(event);
    else if (++up_ == settings_.networks.size() && !stopping_)
      ready();
  }

  void on_failed(const network_event& event) {
    if (stopping_)
      return;
    spdlog::error("network {}: {}", event.network, event.text);
    if (result_ == exit_code::ok)
      result_ = code_for(event);
    stop();
  }

  // The pidfile comes last: whoever polls for it may connect.
  void ready() {
    const std::string status = fmt::format("{} network(s) up", fleet_.size());
    if (pidfile_) {
      if (const auto published = pidfile_->publish(); !published) {
        spdlog::error("{}", published.error().text);
        result_ = code_for(published.error());
        stop();
        return;
      }
    }
    spdlog::info("ready: {}", status);
    tell_manager(notifier_.ready(status));
    is_ready_ = true;
    if (std::exchange(reload_pending_, false))
      reloader_.reload({});
  }

  void reload(bool dry_run, const reloader::listener& done) {
    if (!is_ready_)
      done({dry_run, {"the daemon is still starting: try again"}, {}, {}});
    else if (dry_run)
      reloader_.dry_run(done);
    else
      reloader_.reload(done);
  }

  void on_reload() {
    spdlog::info("reload: reading the configuration again");
    tell_manager(notifier_.reloading());
  }

  void on_reloaded(const reload_report& report) {
    tell_manager(notifier_.ready(
        fmt::format("{} network(s) up; last reload: {}", fleet_.size(), summary(report))));
  }

  static void tell_manager(const result<void>& told) {
    if (!told)
      spdlog::warn("{}", told.error().text);
  }

  void await_signal() {
    signals_.async_wait([this](const boost::system::error_code& problem, int number) {
      if (problem)
        return;
      on_signal(number);
      await_signal();
    });
  }

  void on_signal(int number) {
    if (number == SIGHUP) {
      on_hangup();
      return;
    }
    if (stopping_) {
      spdlog::warn("second signal: ending at once");
      pidfile_.reset();
      std::_Exit(128 + number);
    }
    spdlog::info("{}: stopping", number == SIGTERM ? "SIGTERM" : "SIGINT");
    stop();
  }

  void on_hangup() {
    if (is_ready_)
      reloader_.reload({});
    else
      reload_pending_ = true;
  }

  void stop() {
    if (stopping_)
      return;
    stopping_ = true;
    end_within_deadline();
    tell_manager(notifier_.stopping());
    reloader_.stop();
    fleet_.stop_all([this] { context_.stop(); });
  }

  const daemon_settings& settings_; // as it was started
  std::optional<pidfile> pidfile_;
  service_notifier notifier_ = service_notifier::from_environment();
  asio::io_context context_{1};
  std::unique_ptr<control_server> control_; // null: none
  network_fleet fleet_;
  reloader reloader_;
  asio::signal_set signals_;
  std::size_t up_ = 0;
  bool is_ready_ = false;
  bool reload_pending_ = false; // a SIGHUP that came too early
  bool stopping_ = false;
  exit_code result_ = exit_code::ok;
};

} // namespace

void prepare_signals() {
  std::signal(SIGPIPE, SIG_IGN); // libslirp writes to sockets whose peer may have gone
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is an error like a full disk
  mask_hangups(SIG_BLOCK);
}

exit_code run_daemon(const daemon_settings& settings, settings_loader load) {
  raise_descriptor_limit();
  prepare_control_folder(settings);
  // Threads inherit what there is now; capabilities are a thread's own.
  const auto dropped = drop_privileges(settings);
  if (!dropped) {
    spdlog::error("{}", dropped.error().text);
    return lacks_permission(dropped.error().code) ? exit_code::no_permission : exit_code::os_error;
  }
  if (!dropped->empty())
    spdlog::info("{}", *dropped);
  register_messages();
  try {
    return daemon{settings, std::move(load)}.run();
  } catch (const std::exception& thrown) { // nothing has been made yet
    spdlog::error("{}", shortage(thrown).text);
    return exit_code::os_error;
  }
}

} // namespace vmswitch
