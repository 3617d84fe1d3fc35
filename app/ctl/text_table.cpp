#include "app/ctl/text_table.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "app/printable.hpp"

namespace vmswitch {

namespace {

constexpr std::string_view gap = "  ";

std::string scaled(double value, double base, std::string_view space,
                   const std::array<const char*, 6>& units) {
  std::size_t unit = 0;
  while (value >= base && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  if (unit == 0)
    return fmt::format("{:.0f}{}{}", value, *units[0] == '\0' ? "" : space, units[0]);
  return fmt::format("{:.{}f}{}{}", value,
                     value < 10    ? 2
                     : value < 100 ? 1
                                   : 0,
                     space, units[unit]);
}

} // namespace

void text_table::add(std::vector<std::string> cells) {
  for (auto& cell : cells)
    cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string text_table::render(bool colour) const {
  std::vector<std::size_t> widths;
  for (const auto& each : columns_)
    widths.push_back(display_width(each.title));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  std::string out;
  const auto write = [&](const auto& cell_of, bool bold) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string padding(widths[i] - display_width(cell), ' ');
      line += i == 0 ? "" : gap;
      line += columns_[i].to == align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += bold ? "\x1b[1m" + line + "\x1b[0m" : line;
    out += '\n';
  };
  write([&](std::size_t i) -> const std::string& { return columns_[i].title; }, colour);
  for (const auto& row : rows_)
    write([&](std::size_t i) -> const std::string& { return row[i]; }, false);
  return out;
}

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string bytes_text(double bytes) {
  return scaled(bytes, 1024, " ", {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string short_number(double value) {
  return scaled(value, 1000, " ", {"", "k", "M", "G", "T", "P"});
}

std::string duration_text(std::int64_t seconds) {
  if (seconds < 60)
    return fmt::format("{} s", seconds);
  if (seconds < 3600)
    return fmt::format("{} min", seconds / 60);
  if (seconds < 86400)
    return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
  return fmt::format("{} d {} h", seconds / 86400, seconds % 86400 / 3600);
}

} // namespace vmswitch
