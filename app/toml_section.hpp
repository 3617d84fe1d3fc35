#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "app/config_report.hpp"
#include "transport/error.hpp"

namespace vmswitch {

/// Checked reading of one TOML table. A value that is not as it must be is reported with its
/// place, and read as absent. The keys that were asked for are the ones that exist: finish()
/// reports all others.
class toml_section {
public:
  /// `name` is the table's dotted name, "" for the root. Both references must outlive the section.
  toml_section(const toml::table& table, std::string name, config_report& report);

  std::optional<std::string> text(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::optional<bool> flag(std::string_view key);

  struct placed_text {
    std::string text;
    toml::source_position place;
  };
  /// A list of at most `most` texts.
  std::optional<std::vector<placed_text>> texts(std::string_view key, std::size_t most);

  /// Text, put through one of the functions of setting_values.hpp.
  template <class T>
  std::optional<T> parsed(std::string_view key, result<T> (*parse)(std::string_view)) {
    const auto written = text(key);
    if (!written)
      return {};
    auto value = parse(*written);
    if (value)
      return std::move(*value);
    complain(key, std::move(value.error().text));
    return {};
  }

  /// The table `[key]`, or null.
  const toml::table* table(std::string_view key);
  /// The tables `[[key]]`, the first `most` of them (more are reported).
  std::vector<const toml::table*> tables(std::string_view key, std::size_t most);

  /// True if the key is there, whatever its value. Does not make the key a known one.
  bool has(std::string_view key) const { return table_.contains(key); }
  /// True if the value is a text.
  bool is_text(std::string_view key) const { return table_[key].is_string(); }
  /// The dotted name of a key of this table.
  std::string name_of(std::string_view key) const;
  /// Where the key's value stands, or else the table itself.
  toml::source_position place_of(std::string_view key) const;
  /// Reports something about a key, at its place.
  void complain(std::string_view key, std::string text);

  /// Reports the keys that nobody asked for.
  void finish();

private:
  const toml::node* find(std::string_view key);
  void complain_type(std::string_view key, const toml::node& node, std::string_view wanted);

  const toml::table& table_;
  std::string name_;
  config_report& report_;
  std::vector<std::string_view> known_;
};

} // namespace vmswitch
