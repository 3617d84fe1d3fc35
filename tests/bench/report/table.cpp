#include <algorithm>

#include <fmt/format.h>

#include "tests/bench/report/comparison.hpp"

namespace vmswitch::bench {

namespace {

using row = std::vector<std::string>;

// Every metric that any entry has, in the order in which they are told.
std::vector<metric> columns_of(const comparison_result& result) {
  std::vector<metric> columns;
  for (const outcome& each : result.outcomes)
    if (!each.runs.empty())
      for (const metric& one : each.runs.front().metrics)
        if (std::none_of(columns.begin(), columns.end(),
                         [&](const metric& known) { return known.name == one.name; }))
          columns.push_back(one);
  return columns;
}

std::string range(const spread& values, int decimals) {
  return fmt::format("{:.{}f}..{:.{}f}", values.least, decimals, values.most, decimals);
}

std::vector<row> rows_of(const comparison_result& result) {
  const auto columns = columns_of(result);
  std::vector<row> rows;
  if (columns.empty())
    rows.push_back({""});
  else
    rows.push_back({"", columns[0].name, "(spread)", "ratio", "(spread)"});
  for (std::size_t i = 1; i < columns.size(); ++i)
    rows[0].push_back(columns[i].name);
  for (const outcome& each : result.outcomes) {
    row cells{each.name};
    const auto headline = result.headline(each.name);
    if (!headline) {
      cells.push_back("failed: " + each.failure);
      rows.push_back(std::move(cells));
      continue;
    }
    const int decimals = columns[0].decimals;
    cells.push_back(fmt::format("{:.{}f}", headline->median, decimals));
    cells.push_back(range(*headline, decimals));
    const auto ratio = result.ratio(each.name);
    cells.push_back(ratio ? fmt::format("{:.3f}", ratio->median) : "");
    cells.push_back(ratio ? range(*ratio, 2) : "");
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const auto value = folded(each.runs, columns[i].name);
      cells.push_back(value ? fmt::format("{:.{}f}", *value, columns[i].decimals) : "-");
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

bool is_failure(const row& cells) {
  return cells.size() == 2;
}

} // namespace

std::string to_text(const comparison_result& result) {
  const auto rows = rows_of(result);
  std::vector<std::size_t> widths;
  for (const row& cells : rows)
    for (std::size_t i = 0; i < cells.size() && !is_failure(cells); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], cells[i].size());
    }
  std::string text = result.title + "\n";
  for (const row& cells : rows) {
    text += fmt::format("  {:<{}}", cells[0], widths.empty() ? 0 : widths[0]);
    for (std::size_t i = 1; i < cells.size(); ++i)
      text += is_failure(cells) ? "  " + cells[i] : fmt::format("  {:>{}}", cells[i], widths[i]);
    text += "\n";
  }
  return text;
}

std::string to_markdown(const comparison_result& result) {
  std::string text = fmt::format("### {}\n\n", result.title);
  const auto rows = rows_of(result);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "| " + fmt::format("{}", fmt::join(rows[i], " | ")) + " |\n";
    if (i == 0) {
      text += "|---|";
      for (std::size_t column = 1; column < rows[0].size(); ++column)
        text += "---:|";
      text += "\n";
    }
  }
  return text + "\n";
}

} // namespace vmswitch::bench
