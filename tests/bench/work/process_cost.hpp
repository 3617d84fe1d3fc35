#pragma once

#include <optional>

#include <sys/types.h>

#include "tests/bench/report/sample.hpp"
#include "tests/support/process_usage.hpp"

namespace vmswitch::bench {

/// What a switch's process spends from here to stop(). Process 0 is nobody, and costs nothing
/// that could be told.
class process_cost {
public:
  explicit process_cost(pid_t process);
  void stop();

  /// "cpu s/GB", "cpu ns/frame", "threads", "peak MiB", as far as they are known.
  void add_to(sample& report, double bytes, double frames) const;

  double cpu_seconds() const noexcept;
  double context_switches() const noexcept;
  const std::optional<test::process_usage>& usage() const noexcept { return usage_after_; }
  const std::optional<test::thread_usage>& threads() const noexcept { return threads_after_; }

private:
  const pid_t process_;
  std::optional<test::process_usage> usage_before_;
  std::optional<test::process_usage> usage_after_;
  std::optional<test::thread_usage> threads_before_;
  std::optional<test::thread_usage> threads_after_;
};

} // namespace vmswitch::bench
