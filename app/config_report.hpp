#pragma once

#include <string>
#include <vector>

#include <toml++/toml.h> // TOML with source positions

#include "app/config_error.hpp"

namespace vmswitch {

/// Gathers the mistakes of one file, so that all (the first `most`) are told at once.
class config_report {
public:
  static constexpr std::size_t most = 500;

  explicit config_report(std::string file) : file_{std::move(file)} {}

  /// Key and text may quote the file: they are made printable, and cut where they are very long.
  void add(const toml::source_position& place, std::string key, std::string text);
  std::size_t size() const noexcept { return errors_.size(); }
  bool empty() const noexcept { return errors_.empty(); }
  /// In the order of the file. Leaves the report empty.
  std::vector<config_error> take();

private:
  std::string file_;
  std::vector<config_error> errors_;
};

} // namespace vmswitch
