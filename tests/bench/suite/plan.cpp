#include "tests/bench/suite/plan.hpp"

#include <algorithm>

#include "tests/bench/work/comparisons.hpp"

namespace vmswitch::bench {

namespace {

class planner {
public:
  planner(const contender_options& switches, double seconds, std::vector<std::string>& absent)
      : switches_{switches}, absent_{absent} {
    work_.seconds = seconds;
  }

  workload work(const char* size = "1514") const {
    workload made = work_;
    made.sizes = frame_sizes::parse(size).value();
    return made;
  }

  std::vector<contender> find(const std::vector<std::string>& names) {
    std::vector<contender> found;
    for (const std::string& name : names) {
      auto one = find_contender(name, switches_);
      if (one)
        found.push_back(std::move(*one));
      else if (std::find(absent_.begin(), absent_.end(), one.error().text) == absent_.end())
        absent_.push_back(one.error().text);
    }
    return found;
  }

private:
  const contender_options& switches_;
  std::vector<std::string>& absent_;
  workload work_;
};

comparison named(std::string name, comparison made) {
  made.name = std::move(name);
  return made;
}

} // namespace

std::vector<comparison> plan_suite(const contender_options& switches, double seconds,
                                   std::vector<std::string>& absent) {
  planner plan{switches, seconds, absent};
  const auto all = plan.find({"relay", "vmswitchd", "flood", "qemu-hub", "vde", "bridge"});
  const auto limit = plan.find({"relay", "vmswitchd"});
  const auto ours = plan.find({"vmswitchd"});
  const auto datagrams = plan.find({"dgram-relay", "vmswitchd-dgram", "vde"});

  std::vector<comparison> suite;
  suite.push_back(named("full", throughput_of(all, plan.work())));
  suite.push_back(named("small", throughput_of(all, plan.work("64"))));
  suite.push_back(named("imix", throughput_of(all, plan.work("imix"))));
  auto work = plan.work();
  work.frames_per_write = 1;
  suite.push_back(named("single", throughput_of(all, work)));
  work = plan.work();
  work.bidirectional = true;
  suite.push_back(named("both", throughput_of(limit, work)));
  suite.push_back(named(
      "watched", throughput_of(plan.find({"vmswitchd", "vmswitchd-watched", "vmswitchd-captured"}),
                               plan.work())));
  suite.push_back(named("datagrams", throughput_of(datagrams, plan.work())));
  suite.push_back(named(
      "neighbours", neighbours_of(plan.find({"vmswitchd", "flood"}), plan.work(), {3, 30}, {1})));
  work = plan.work("64");
  suite.push_back(named("latency", latency_of(all, work)));
  work.loaded = true;
  suite.push_back(named("loaded", latency_of(all, work)));
  work = plan.work();
  work.receivers = 8;
  suite.push_back(named("fanout", fanout_of(plan.find({"vmswitchd", "flood"}), work)));
  suite.push_back(
      named("from host", from_host_of(plan.find({"flood-host", "vmswitch-host"}), plan.work())));
  work = plan.work();
  work.seconds = std::max(work.seconds, 1.0); // the system counts CPU time in ticks of 10 ms
  suite.push_back(named("scale", scale_of(ours, work, {2, 100, 1000})));
  suite.push_back(named("idle", idle_of(ours, work, {2, 200, 1000})));
  return suite;
}

} // namespace vmswitch::bench
