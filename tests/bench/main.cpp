#include <cstdio>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "tests/bench/suite/suite.hpp"
#include "tests/bench/work/comparisons.hpp"

using namespace vmswitch;

namespace {

struct arguments {
  bench::workload work;
  bench::contender_options switches;
  bench::suite_options suite;
  std::vector<std::string> against{"relay", "flood", "vmswitchd"};
  std::string size = "1514";
  std::string per_write = "fill";
  std::vector<int> idle;
  std::vector<int> stuck;
  std::vector<int> ports;
  int rounds = 3;
  bool json = false;
  bool check = false;
};

void add_common(CLI::App& command, arguments& given) {
  command
      .add_option("--against", given.against,
                  "who takes part, the first is what the others are compared with: relay, "
                  "dgram-relay, flood, vmswitchd, vmswitchd-dgram, vmswitchd-watched, "
                  "vmswitchd-captured, qemu-hub, vde, bridge, or paths of stream sockets")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--daemon", given.switches.daemon, "path of vmswitchd (beside this program)");
  command.add_option("--daemon-option", given.switches.daemon_options, "handed on to the daemon");
  command.add_option("--rounds", given.rounds, "how often each takes its turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--seconds", given.work.seconds, "measured time of a turn")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  command.add_option("--size", given.size, "bytes of a frame (24..65550), or imix")
      ->capture_default_str();
  command.add_flag("--json", given.json, "print JSON");
  command.add_flag("--check", given.check,
                   "fail if the relay or vmswitchd lost, doubled or flooded a frame");
}

void add_traffic(CLI::App& command, arguments& given) {
  command.add_option("--frames-per-write", given.per_write, "a number, or fill: 64 KiB")
      ->capture_default_str();
  command.add_option("--pairs", given.work.pairs, "pairs of VMs that send at full speed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("--bidirectional", given.work.bidirectional, "both VMs of a pair send");
}

void add_numbers(CLI::App& command, const char* name, std::vector<int>& numbers, int most,
                 const char* what) {
  command.add_option(name, numbers, what)->delimiter(',')->check(CLI::Range(0, most));
}

// The parts of the workload that are not plain numbers; returns false after a complaint.
bool complete(arguments& given) {
  const auto sizes = bench::frame_sizes::parse(given.size);
  if (!sizes) {
    fmt::print(stderr, "vmswitch-bench: --size: a number of {}..{} or imix, not {}\n",
               bench::smallest_frame, bench::largest_frame, given.size);
    return false;
  }
  given.work.sizes = *sizes;
  if (given.per_write == "fill")
    return true;
  const bool digits = given.per_write.find_first_not_of("0123456789") == std::string::npos;
  const unsigned long frames =
      digits && given.per_write.size() < 6 ? std::strtoul(given.per_write.c_str(), nullptr, 10) : 0;
  if (frames == 0)
    fmt::print(stderr, "vmswitch-bench: --frames-per-write: a number of 1..99999 or fill, not {}\n",
               given.per_write);
  given.work.frames_per_write = frames;
  return frames > 0;
}

int show(const bench::comparison& what, const arguments& given) {
  const auto result = bench::run(what, given.rounds);
  if (given.json)
    fmt::print("{}\n", bench::to_json(result).dump(2));
  else
    fmt::print("{}", bench::to_text(result));
  for (const auto& each : result.outcomes) {
    if (given.check && (each.ours || each.name == "relay") &&
        (each.faults() > 0 || !each.failure.empty())) {
      fmt::print(stderr, "vmswitch-bench: {}: {}\n", each.name,
                 each.failure.empty() ? "frames went astray" : each.failure);
      return 1;
    }
  }
  return 0;
}

void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

} // namespace

int main(int argc, char** argv) {
  arguments given;
  given.switches.daemon = (std::filesystem::path{argv[0]}.parent_path() / "vmswitchd").string();

  CLI::App app{"Measures switches with simulated VMs on their sockets.", "vmswitch-bench"};
  app.require_subcommand(1);
  auto* throughput = app.add_subcommand("throughput", "how fast frames get through");
  auto* latency = app.add_subcommand("latency", "one frame there and back at a time");
  auto* fanout = app.add_subcommand("fanout", "one VM broadcasts to others");
  auto* slow = app.add_subcommand("slow", "a pair beside VMs that are idle, or never read");
  auto* from_host = app.add_subcommand("from-host", "from a model of the host to a VM");
  auto* scale = app.add_subcommand("scale", "what a frame costs with few and with many ports");
  auto* idle = app.add_subcommand("idle", "what it costs to do nothing");
  for (CLI::App* command : {throughput, latency, fanout, slow, from_host, scale, idle})
    add_common(*command, given);
  for (CLI::App* command : {throughput, slow})
    add_traffic(*command, given);
  latency->add_flag("--loaded", given.work.loaded, "beside a second pair at full speed");
  fanout->add_option("--receivers", given.work.receivers, "VMs that receive (8)")
      ->check(CLI::Range(1, 1000));
  add_numbers(*slow, "--idle", given.idle, 10000, "numbers of VMs that only read");
  add_numbers(*slow, "--stuck", given.stuck, 1000, "numbers of VMs that never read (1)");
  slow->add_option("--noise-rate", given.work.noise_rate, "frames a second to a stuck VM")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  add_numbers(*scale, "--ports", given.ports, 4000, "how many (2, 100, 1000)");
  add_numbers(*idle, "--ports", given.ports, 4000, "how many (2, 200, 1000)");
  scale->add_option("--rate", given.work.rate, "frames a second of all ports together")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();

  auto* suite = app.add_subcommand("suite", "all of it, judged; results.md and plots");
  suite->add_option("--daemon", given.switches.daemon, "path of vmswitchd (beside this program)");
  suite->add_option("--out", given.suite.folder, "where results.md goes")->required();
  suite->add_flag("--full", given.suite.full, "seven rounds of a second each instead of three");
  CLI11_PARSE(app, argc, argv);

  if (!complete(given))
    return 2;
  allow_many_files();
  if (*suite)
    return bench::run_suite(given.suite, given.switches);

  if (*from_host && from_host->count("--against") == 0)
    given.against = {"flood-host", "vmswitch-host"};
  std::vector<bench::contender> contenders;
  for (const std::string& name : given.against) {
    auto found = bench::find_contender(name, given.switches);
    if (!found) {
      fmt::print(stderr, "vmswitch-bench: {}\n", found.error().text);
      return 1;
    }
    contenders.push_back(std::move(*found));
  }
  if (*throughput)
    return show(bench::throughput_of(contenders, given.work), given);
  if (*latency)
    return show(bench::latency_of(contenders, given.work), given);
  if (*fanout) {
    if (given.work.receivers == 0)
      given.work.receivers = 8;
    return show(bench::fanout_of(contenders, given.work), given);
  }
  if (*slow) {
    if (given.idle.empty() && given.stuck.empty())
      given.stuck = {1};
    return show(bench::neighbours_of(contenders, given.work, given.idle, given.stuck), given);
  }
  if (*from_host)
    return show(bench::from_host_of(contenders, given.work), given);
  if (given.ports.empty())
    given.ports = *scale ? std::vector{2, 100, 1000} : std::vector{2, 200, 1000};
  return show(*scale ? bench::scale_of(contenders, given.work, given.ports)
                     : bench::idle_of(contenders, given.work, given.ports),
              given);
}
