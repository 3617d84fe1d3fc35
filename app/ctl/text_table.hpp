#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vmswitch {

/// Columns of text for people, as wide as they need to be. What is put in is made printable: it
/// may come from a VM.
class text_table {
public:
  enum class align : std::uint8_t { left, right };
  struct column {
    std::string title;
    align to = align::left;
  };

  explicit text_table(std::vector<column> columns) : columns_{std::move(columns)} {}

  /// @pre as many cells as columns
  void add(std::vector<std::string> cells);
  bool empty() const noexcept { return rows_.empty(); }
  /// Titles, in bold if `colour`, and rows, each with its line end. No spaces at the ends of lines.
  std::string render(bool colour) const;

private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Characters on a terminal, for UTF-8 whose characters are one column wide.
std::size_t display_width(const std::string& text);

/// "873 B", "1.4 MiB"
std::string bytes_text(double bytes);
/// "12 s", "3 min", "5 h 12 min", "3 d 4 h"
std::string duration_text(std::int64_t seconds);
/// "950", "12.3 k", "4.56 M": three digits
std::string short_number(double value);

} // namespace vmswitch
