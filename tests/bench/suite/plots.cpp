#include "tests/bench/suite/plots.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <fmt/format.h>

#include "tests/bench/contenders/switch_process.hpp"

namespace vmswitch::bench {

namespace {

using namespace std::chrono_literals;

struct group {
  const char* comparison;
  const char* label;
};

// What both plots have in common: clustered bars from columns of a data file.
constexpr auto preamble = R"(set terminal svg size 860,360 font 'sans-serif,13'
set object rectangle from screen 0,0 to screen 1,1 behind fc rgb 'white' fs solid noborder
set style data histograms
set style histogram clustered gap 1
set style fill solid border rgb 'white'
set boxwidth 0.92
set key outside top center horizontal
set grid ytics lc rgb '#dddddd'
set border 3
set xtics nomirror
set ytics nomirror
set linetype 1 lc rgb '#9a9a9a'
set linetype 2 lc rgb '#1b6ac9'
set linetype 3 lc rgb '#c9651b'
set linetype 4 lc rgb '#8a5fb5'
set linetype 5 lc rgb '#3f9b6a'
set linetype 6 lc rgb '#b5405f'
)";

// Rows: groups; columns: the contenders of the first one. Missing values are left out.
template <class Figure>
std::string data(const std::vector<comparison_result>& results, const std::vector<group>& groups,
                 std::vector<std::string>& names, Figure&& figure) {
  std::string text;
  for (const group& each : groups) {
    const auto found =
        std::find_if(results.begin(), results.end(),
                     [&](const comparison_result& one) { return one.name == each.comparison; });
    if (found == results.end())
      continue;
    if (names.empty())
      for (const outcome& one : found->outcomes)
        names.push_back(one.name);
    text += fmt::format("\"{}\"", each.label);
    for (const std::string& name : names) {
      const std::optional<double> value = figure(*found, name);
      text += value ? fmt::format(" {:.4f}", *value) : " ?";
    }
    text += "\n";
  }
  return text;
}

void write_script(const std::string& folder, const std::string& name, const std::string& axis,
                  const std::vector<std::string>& names, const std::string& rows) {
  std::ofstream{folder + "/" + name + ".dat"} << rows;
  std::ofstream script{folder + "/" + name + ".gp"};
  script << preamble << "set output '" << folder << "/" << name << ".svg'\n"
         << "set datafile missing '?'\n"
         << axis << "plot";
  for (std::size_t i = 0; i < names.size(); ++i)
    script << (i == 0 ? " " : ", ") << "'" << folder << "/" << name << ".dat' using " << i + 2
           << (i == 0 ? ":xtic(1)" : "") << " title '" << names[i] << "'";
  script << "\n";
}

} // namespace

result<void> plot(const std::vector<comparison_result>& results, const std::string& folder) {
  std::vector<std::string> names;
  auto rows = data(results,
                   {{"full", "1514 bytes"},
                    {"imix", "IMIX"},
                    {"small", "64 bytes"},
                    {"single", "one frame per write"}},
                   names, [](const comparison_result& one, const std::string& name) {
                     const auto ratio = one.ratio(name);
                     return ratio ? std::optional{ratio->median} : std::nullopt;
                   });
  write_script(folder, "throughput",
               "set logscale y\nset yrange [0.002:2]\nset ylabel 'throughput, relay = 1'\n", names,
               rows);
  names.clear();
  rows = data(results, {{"latency", "otherwise idle"}, {"loaded", "beside a full-speed pair"}},
              names, [](const comparison_result& one, const std::string& name) {
                const auto figure = one.headline(name);
                return figure ? std::optional{figure->median} : std::nullopt;
              });
  write_script(folder, "round-trip", "set logscale y\nset ylabel 'round trip, us (median)'\n",
               names, rows);

  const std::string program = program_path("gnuplot");
  if (program.empty())
    return fail("no plots: gnuplot is not installed");
  for (const char* name : {"/throughput.gp", "/round-trip.gp"}) {
    auto drawing = switch_process::start({.command = {program, folder + name}});
    if (!drawing)
      return tl::unexpected{drawing.error()};
    if (drawing->wait(switch_process::clock::now() + 30s) != 0)
      return fail("gnuplot has failed: " + drawing->error_output());
  }
  return {};
}

} // namespace vmswitch::bench
