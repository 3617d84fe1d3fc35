#include "tests/bench/work/comparisons.hpp"

#include <fmt/format.h>

namespace vmswitch::bench {

namespace {

comparison plain(std::string name, measure how, const std::vector<contender>& contenders,
                 const workload& work) {
  comparison made{std::move(name), describe(work), std::move(how), {}};
  for (const contender& each : contenders)
    made.entries.push_back({each.name, each, work});
  return made;
}

} // namespace

std::string describe(const workload& work) {
  const auto cycle = work.sizes.cycle();
  std::string text = cycle.size() > 1 ? "IMIX" : fmt::format("{} bytes", cycle[0]);
  text += work.frames_per_write == wire_batch::fill
              ? ", 64 KiB per write"
              : fmt::format(", {} per write", work.frames_per_write);
  if (work.receivers > 0)
    text += fmt::format(", one to {}", work.receivers);
  else
    text += fmt::format(", {} pair{}", work.pairs, work.pairs == 1 ? "" : "s");
  if (work.bidirectional)
    text += ", both directions";
  if (work.idle > 0)
    text += fmt::format(", {} idle", work.idle);
  if (work.stuck > 0)
    text += fmt::format(", {} stuck", work.stuck);
  return text;
}

comparison throughput_of(const std::vector<contender>& contenders, const workload& work) {
  return plain("throughput", measure_throughput, contenders, work);
}

comparison latency_of(const std::vector<contender>& contenders, const workload& work) {
  auto made = plain("latency", measure_latency, contenders, work);
  const auto bytes = work.sizes.cycle()[0];
  made.title = fmt::format("round trip of {} bytes, {}", bytes,
                           work.loaded ? "beside a pair at full speed" : "otherwise idle");
  return made;
}

comparison fanout_of(const std::vector<contender>& contenders, const workload& work) {
  return plain("fanout", measure_throughput, contenders, work);
}

comparison neighbours_of(const std::vector<contender>& contenders, const workload& work,
                         const std::vector<int>& idle, const std::vector<int>& stuck) {
  auto made = plain("neighbours", measure_throughput, {}, work);
  made.title += ", beside others";
  for (const contender& each : contenders) {
    workload varied = work;
    made.entries.push_back({each.name, each, varied});
    for (const int count : idle) {
      varied.idle = count;
      made.entries.push_back({fmt::format("{} +{} idle", each.name, count), each, varied});
    }
    varied = work;
    for (const int count : stuck) {
      varied.stuck = count;
      made.entries.push_back({fmt::format("{} +{} stuck", each.name, count), each, varied});
    }
  }
  return made;
}

comparison scale_of(const std::vector<contender>& contenders, const workload& work,
                    const std::vector<int>& ports) {
  auto made = plain("scale", measure_spread, {}, work);
  made.title = fmt::format("{} bytes, {} frames/s in all, spread over all ports",
                           work.sizes.cycle()[0], work.rate);
  for (const contender& each : contenders)
    for (const int count : ports) {
      workload varied = work;
      varied.pairs = count / 2;
      made.entries.push_back({fmt::format("{} {} ports", each.name, count), each, varied});
    }
  return made;
}

comparison from_host_of(const std::vector<contender>& contenders, const workload& work) {
  auto made = plain("from host", measure_from_host, {}, work);
  made.title = "1514 bytes from the host to a VM, alone and beside an idle one";
  for (const int idle : {0, 1})
    for (const contender& each : contenders) {
      workload varied = work;
      varied.idle = idle;
      made.entries.push_back({each.name + (idle > 0 ? " +1 idle" : ""), each, varied});
    }
  return made;
}

comparison idle_of(const std::vector<contender>& contenders, const workload& work,
                   const std::vector<int>& ports) {
  auto made = plain("idle", measure_idle, {}, work);
  made.title = "nobody says anything";
  for (const contender& each : contenders)
    for (const int count : ports) {
      workload varied = work;
      varied.idle = count - 2;
      made.entries.push_back({fmt::format("{} {} ports", each.name, count), each, varied});
    }
  return made;
}

} // namespace vmswitch::bench
