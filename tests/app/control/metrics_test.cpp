#include "app/control/metrics.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

#include "app/control/prometheus_writer.hpp"
#include "tests/app/control/snapshots.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

struct sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};
struct family {
  std::string type;
  std::vector<sample> samples;
};

// Reads the text format (prometheus.io/docs/instrumenting/exposition_formats), strictly: what a
// scraper or `promtool check metrics` would refuse, or only just accept, fails here.
std::map<std::string, family> read_metrics(const std::string& text) {
  static const std::regex sample_line{R"rx(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+))rx"};
  static const std::regex label_pair{
      R"rx(([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(,|$))rx"};
  std::map<std::string, family> families;
  std::set<std::string> series;
  std::string present, helped;
  REQUIRE(text.ends_with("\n"));
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    std::istringstream words{line};
    std::string hash, keyword, name, type;
    if (line.starts_with("# HELP ")) {
      words >> hash >> keyword >> helped;
      CHECK(line.size() > 8 + helped.size());
      continue;
    }
    if (line.starts_with("# TYPE ")) {
      words >> hash >> keyword >> present >> type;
      CHECK(present == helped);
      CHECK_FALSE(families.contains(present)); // a family is one block
      CHECK((type == "counter" || type == "gauge" || type == "histogram"));
      CHECK((type == "counter") == present.ends_with("_total"));
      families[present].type = type;
      continue;
    }
    std::smatch parts;
    REQUIRE(std::regex_match(line, parts, sample_line));
    sample read{parts[1], {}, std::stod(parts[4])};
    auto& of = families.at(present);
    if (of.type == "histogram")
      CHECK((read.name == present + "_bucket" || read.name == present + "_sum" ||
             read.name == present + "_count"));
    else
      CHECK(read.name == present);
    std::string rest = parts[3];
    for (std::smatch pair;
         std::regex_search(rest, pair, label_pair, std::regex_constants::match_continuous);
         rest = pair.suffix())
      CHECK(read.labels.emplace(pair[1], pair[2]).second);
    CHECK(rest.empty());
    CHECK(series.insert(line.substr(0, line.rfind(' '))).second); // no series twice
    CHECK(read.value >= 0);
    of.samples.push_back(std::move(read));
  }
  return families;
}

std::optional<double> value_of(const std::map<std::string, family>& all, const std::string& name,
                               const std::map<std::string, std::string>& labels) {
  for (const auto& each : all.at(name).samples)
    if (each.labels == labels)
      return each.value;
  return {};
}

metrics_facts some_facts() {
  metrics_facts facts;
  facts.started_seconds = 1.7e9;
  facts.process = {1.5, 10'000'000, 12, 1024};
  facts.control_answers = {{200, 7}, {404, 1}};
  return facts;
}

} // namespace

TEST_SUITE("metrics") {

  TEST_CASE("the text is what Prometheus reads, with units in names and help for all") {
    const auto all = read_metrics(metrics_text(lab_snapshot(), some_facts()));
    CHECK(all.size() > 20);
    for (const auto& each : all) {
      const auto& name = each.first;
      CAPTURE(name);
      CHECK((name.starts_with("vmswitch_") || name.starts_with("process_")));
    }
  }

  TEST_CASE("traffic and drops are those of the snapshot, ports that have gone included") {
    const auto all = read_metrics(metrics_text(lab_snapshot(), some_facts()));
    CHECK(value_of(all, "vmswitch_frames_total", {{"network", "lab"}, {"direction", "in"}}) == 115);
    CHECK(value_of(all, "vmswitch_bytes_total", {{"network", "lab"}, {"direction", "out"}}) ==
          22600);
    CHECK(value_of(all, "vmswitch_drops_total",
                   {{"network", "lab"}, {"reason", "egress_stalled"}}) == 9);
    // A reason that has not happened yet is there with 0: rate() needs a first value.
    CHECK(value_of(all, "vmswitch_drops_total", {{"network", "lab"}, {"reason", "oversize"}}) == 0);
    CHECK(value_of(all, "vmswitch_port_frames_total",
                   {{"network", "lab"}, {"port", "lab.1"}, {"direction", "out"}}) == 20);
    CHECK(value_of(all, "vmswitch_port_drops_total",
                   {{"network", "lab"}, {"port", "lab.1"}, {"reason", "runt"}}) == 1);
    CHECK(value_of(all, "vmswitch_port_queue_oldest_seconds",
                   {{"network", "lab"}, {"port", "lab.2"}}) == doctest::Approx(0.049));
    CHECK_FALSE(value_of(all, "vmswitch_port_frames_total",
                         {{"network", "lab"}, {"port", "lab.3"}, {"direction", "in"}}));
    CHECK(value_of(all, "vmswitch_vms", {{"network", "lab"}}) == 3);
    CHECK(value_of(all, "vmswitch_parts_silent", {{"network", "lab"}}) == 1);
    CHECK(value_of(all, "vmswitch_control_answers_total", {{"code", "404"}}) == 1);
  }

  TEST_CASE("a port's alias is in one series of its own, and in no other") {
    auto seen = lab_snapshot();
    const auto before = read_metrics(metrics_text(seen, some_facts()));
    CHECK(before.at("vmswitch_port_info").samples.empty());
    seen.networks[0].ports[1].brief.alias = "web";
    const auto all = read_metrics(metrics_text(seen, some_facts()));
    CHECK(value_of(all, "vmswitch_port_info",
                   {{"network", "lab"}, {"port", "lab.1"}, {"name", "web"}}) == 1);
    CHECK(value_of(all, "vmswitch_port_frames_total",
                   {{"network", "lab"}, {"port", "lab.1"}, {"direction", "in"}}) == 10);
  }

  TEST_CASE("the histogram is cumulative and ends with all") {
    const auto all = read_metrics(metrics_text(lab_snapshot(), some_facts()));
    double last = 0;
    double last_bound = 0;
    for (const auto& each : all.at("vmswitch_egress_wait_seconds").samples) {
      if (!each.name.ends_with("_bucket"))
        continue;
      const auto bound = std::stod(each.labels.at("le"));
      CHECK(bound > last_bound);
      CHECK(each.value >= last);
      if (bound > 3e-6 && bound < 2e-3)
        CHECK(each.value == 15);
      last = each.value;
      last_bound = bound;
    }
    CHECK(last == 20);
    CHECK(std::isinf(last_bound));
  }

  TEST_CASE("the number of series is bounded, and what is left out is counted") {
    auto seen = lab_snapshot();
    auto& ports = seen.networks[0].ports;
    while (ports.size() < most_ports_in_metrics + 100) {
      ports.push_back(ports[1]);
      ports.back().brief.name = "lab." + std::to_string(ports.size());
    }
    const auto all = read_metrics(metrics_text(seen, some_facts()));
    CHECK(all.at("vmswitch_port_queue_frames").samples.size() <= most_ports_in_metrics);
    CHECK(value_of(all, "vmswitch_ports_omitted", {{"network", "lab"}}) == 100);
  }

  TEST_CASE("of a network without a host nobody is told that its host is down") {
    auto seen = lab_snapshot();
    seen.networks.push_back(seen.networks[0]);
    seen.networks[1].name = "quiet";
    seen.networks[1].mode = "isolated";
    seen.networks[1].host_up = false;
    const auto up = read_metrics(metrics_text(seen, some_facts())).at("vmswitch_host_up").samples;
    REQUIRE(up.size() == 1);
    CHECK(up[0].labels.at("network") == "lab");
  }

  TEST_CASE("label values are escaped") {
    prometheus_writer out;
    out.family("x_total", "counter", "back\\slash\nand \"quotes\"");
    out.sample({{"a", "q\" b\\ n\n"}}, std::uint64_t{1});
    CHECK(out.take() == "# HELP x_total back\\\\slash\\nand \"quotes\"\n# TYPE x_total counter\n"
                        "x_total{a=\"q\\\" b\\\\ n\\n\"} 1\n");
  }

  TEST_CASE("what the process costs is known") {
    const auto usage = measure_process();
    CHECK(usage.resident_bytes > 1'000'000);
    CHECK(usage.open_descriptors >= 3);
    CHECK(usage.most_descriptors >= usage.open_descriptors);
    CHECK(usage.cpu_seconds > 0);
  }

} // TEST_SUITE
