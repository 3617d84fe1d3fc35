#include <atomic>
#include <chrono>
#include <thread>

#include "tests/bench/work/lab.hpp"
#include "tests/bench/work/process_cost.hpp"
#include "tests/bench/work/traffic.hpp"

namespace vmswitch::bench {

using namespace std::chrono_literals;

result<sample> measure_idle(running_switch& tested, const workload& work) {
  const auto empty = tested.process() ? test::usage_of(tested.process()) : std::nullopt;
  lab vms;
  if (auto plugged = vms.plug_in(tested, work); !plugged)
    return tl::unexpected{plugged.error()};
  const auto sizes = frame_sizes::parse("64").value();
  for (vm_client& each : vms.idle)
    if (!each.send(
            wire_batch{each.address(), vms.pairs[0].address(), frame_kind::hello, sizes, 1}.number(
                0)))
      return fail("the switch hung up on a silent client");
  std::this_thread::sleep_for(500ms);

  process_cost cost{tested.process()};
  std::this_thread::sleep_for(std::chrono::duration<double>(work.seconds));
  cost.stop();
  vms.shut_down();

  sample report;
  report.add("wake-ups/s", cost.context_switches() / work.seconds, 1);
  report.add("cpu ms/s", cost.cpu_seconds() * 1000 / work.seconds, 1);
  if (cost.threads())
    report.add("threads", static_cast<double>(cost.threads()->threads), 0);
  if (empty && cost.usage()) {
    report.add("MiB", cost.usage()->resident_mib, 1);
    report.add("KiB/port",
               (cost.usage()->resident_mib - empty->resident_mib) * 1024 /
                   static_cast<double>(work.vms()),
               1);
  }
  return report;
}

} // namespace vmswitch::bench
