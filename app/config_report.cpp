#include "app/config_report.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/printable.hpp"

namespace vmswitch {

namespace {
constexpr std::size_t longest_key = 100;
constexpr std::size_t longest_text = 500;
} // namespace

void config_report::add(const toml::source_position& place, std::string key, std::string text) {
  if (errors_.size() == most)
    text = "there are more mistakes, which are left out";
  if (errors_.size() > most)
    return;
  errors_.push_back({file_, place.line, place.column, shortened(printable(key), longest_key),
                     shortened(printable(text), longest_text)});
}

std::vector<config_error> config_report::take() {
  std::ranges::stable_sort(errors_, {}, [](const auto& e) { return std::tuple{e.line, e.column}; });
  return std::exchange(errors_, {});
}

} // namespace vmswitch
