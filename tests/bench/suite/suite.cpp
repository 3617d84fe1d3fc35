#include "tests/bench/suite/suite.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>

#include "tests/bench/suite/bars.hpp"
#include "tests/bench/suite/plan.hpp"
#include "tests/bench/suite/plots.hpp"

namespace vmswitch::bench {

namespace {

std::string machine() {
  utsname system{};
  ::uname(&system);
  return fmt::format("{} cores, {} {}, {}", std::thread::hardware_concurrency(), system.sysname,
                     system.release, system.machine);
}

std::string judgement(const std::vector<bar>& bars) {
  std::string text = "| what | wanted | measured | |\n|---|---:|---:|---|\n";
  for (const bar& each : bars)
    text += fmt::format("| {} | {} {:g} | {:.3g} | {} |\n", each.what,
                        each.at_least ? "at least" : "at most", each.wanted, each.value,
                        each.met() ? "met" : "missed");
  return text;
}

} // namespace

int run_suite(const suite_options& options, const contender_options& switches) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  const std::string results_file = options.folder + "/results.md";
  std::ofstream file{results_file};
  if (!file) {
    fmt::print(stderr, "vmswitch-bench: cannot write {}\n", results_file);
    return 1;
  }
  const int rounds = options.full ? 7 : 3;
  const double seconds = options.full ? 1 : 0.5;
  std::vector<std::string> absent;
  const auto plan = plan_suite(switches, seconds, absent);
  for (const std::string& why : absent)
    fmt::print("left out: {}\n", why);

  std::vector<comparison_result> results;
  auto json = nlohmann::json::array();
  for (const comparison& each : plan) {
    std::fflush(stdout); // before the next fork
    results.push_back(run(each, rounds));
    json.push_back(to_json(results.back()));
    fmt::print("{}\n", to_text(results.back()));
  }

  const std::string verdict = judgement(judge(results));
  fmt::print("{}", verdict);
  file << fmt::format("# Figures\n\n{}; medians of {} runs of {} s.\n\n{}\n", machine(), rounds,
                      seconds, verdict);
  for (const auto& each : results)
    file << to_markdown(each);
  for (const std::string& why : absent)
    file << "Left out: " << why << "\n";
  std::ofstream{options.folder + "/results.json"} << json.dump(2) << "\n";
  if (auto drawn = plot(results, options.folder); !drawn)
    fmt::print("{}\n", drawn.error().text);
  fmt::print("written to {}\n", results_file);
  return file.flush() ? 0 : 1;
}

} // namespace vmswitch::bench
