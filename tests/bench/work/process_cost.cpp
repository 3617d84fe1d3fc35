#include "tests/bench/work/process_cost.hpp"

namespace vmswitch::bench {

process_cost::process_cost(pid_t process) : process_{process} {
  if (process_ == 0)
    return;
  usage_before_ = test::usage_of(process_);
  threads_before_ = test::threads_of(process_);
}

void process_cost::stop() {
  if (process_ == 0)
    return;
  usage_after_ = test::usage_of(process_);
  threads_after_ = test::threads_of(process_);
}

double process_cost::cpu_seconds() const noexcept {
  return usage_before_ && usage_after_ ? usage_after_->cpu_seconds - usage_before_->cpu_seconds : 0;
}

double process_cost::context_switches() const noexcept {
  return threads_before_ && threads_after_
             ? static_cast<double>(threads_after_->context_switches) -
                   static_cast<double>(threads_before_->context_switches)
             : 0;
}

void process_cost::add_to(sample& report, double bytes, double frames) const {
  if (!usage_before_ || !usage_after_ || bytes == 0)
    return;
  report.add("cpu s/GB", cpu_seconds() / (bytes / 1e9), 2);
  report.add("cpu ns/frame", cpu_seconds() / frames * 1e9, 0);
  if (threads_after_)
    report.add("threads", static_cast<double>(threads_after_->threads), 0);
  report.add("peak MiB", usage_after_->peak_resident_mib, 1, metric::fold::most);
}

} // namespace vmswitch::bench
