#include "app/reload/reloader.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace vmswitch {

namespace {

void log(const reload_report& report) {
  for (const auto& mistake : report.errors)
    spdlog::error("reload: {}", mistake);
  for (const auto& each : report.held)
    spdlog::warn("reload: needs a restart: {} ({})", each.text, each.why);
  if (report.errors.empty() && report.failures() == 0)
    spdlog::info("reload: {}", summary(report));
  else
    spdlog::error("reload: {}", summary(report));
}

} // namespace

reloader::reloader(boost::asio::io_context& context, daemon_settings now, settings_loader load,
                   reload_step perform, std::function<void()> begins, listener ends)
    : context_{context}, now_{std::move(now)}, load_{std::move(load)}, perform_{std::move(perform)},
      begins_{std::move(begins)}, ends_{std::move(ends)}, patience_{context} {}

void reloader::reload(listener done) {
  enter({false, std::move(done)});
}

void reloader::dry_run(listener done) {
  enter({true, std::move(done)});
}

void reloader::enter(request asked) {
  const auto refuse = [&](const char* why) {
    if (asked.done)
      boost::asio::post(context_, [done = std::move(asked.done), dry = asked.is_dry, why] {
        done({dry, {why}, {}, {}});
      });
  };
  if (stopping_)
    return refuse("the daemon stops");
  // A signal that waits will read whatever the file is by then: one is enough.
  const auto first_waiting = waiting_.begin() + (running_ ? 1 : 0);
  const auto is_signal = [](const request& each) { return !each.done; };
  if (is_signal(asked) && std::any_of(first_waiting, waiting_.end(), is_signal))
    return;
  if (waiting_.size() >= most_waiting + 1)
    return refuse("too many reloads wait already: try again");
  waiting_.push_back(std::move(asked));
  if (!running_)
    begin();
}

void reloader::begin() {
  running_ = true;
  report_ = {};
  report_.dry_run = waiting_.front().is_dry;
  actions_.clear();
  if (!report_.dry_run)
    begins_();
  auto wanted = load_();
  if (!wanted) {
    report_.errors = std::move(wanted.error());
  } else {
    auto plan = plan_reload(now_, *wanted);
    actions_ = std::move(plan.actions);
    report_.held = std::move(plan.held);
  }
  if (report_.dry_run)
    for (const auto& action : std::exchange(actions_, {}))
      report_.steps.push_back({action.text, {}});
  boost::asio::post(context_, [this] { next(); });
}

void reloader::next() {
  if (stopping_)
    return;
  if (report_.steps.size() >= actions_.size()) {
    finish();
    return;
  }
  const auto number = ++begun_;
  answered_ = false;
  const auto action = actions_[report_.steps.size()];
  const auto answer = [this, number, action](const result<void>& outcome) {
    on_done(number, action, outcome);
  };
  patience_.expires_after(action_patience);
  patience_.async_wait([answer](const boost::system::error_code& cancelled) {
    if (!cancelled)
      answer(fail(fmt::format("no answer within {} s", action_patience.count())));
  });
  perform_(action, answer);
}

void reloader::on_done(std::size_t number, const reload_action& action,
                       const result<void>& outcome) {
  if (stopping_)
    return;
  const bool is_late = number != begun_ || answered_;
  if (outcome) {
    apply(action, now_);
    spdlog::info("reload: {}{}", action.text, is_late ? " (late)" : "");
  } else if (!is_late) {
    spdlog::error("reload: {}: not done: {}", action.text, outcome.error().text);
  }
  if (is_late)
    return;
  answered_ = true;
  patience_.cancel();
  report_.steps.push_back({action.text, outcome ? std::string{} : outcome.error().text});
  boost::asio::post(context_, [this] { next(); });
}

void reloader::finish() {
  const auto served = std::move(waiting_.front());
  waiting_.pop_front();
  running_ = false;
  if (!report_.dry_run) {
    log(report_);
    ends_(report_);
  }
  if (served.done)
    served.done(report_);
  if (!waiting_.empty() && !running_ && !stopping_)
    begin();
}

void reloader::stop() {
  if (std::exchange(stopping_, true))
    return;
  patience_.cancel();
  for (auto& each : std::exchange(waiting_, {}))
    if (each.done)
      each.done({each.is_dry, {"the daemon stops"}, {}, {}});
}

} // namespace vmswitch
