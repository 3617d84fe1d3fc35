#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace vmswitch {

/// Writes metrics in the text format of Prometheus, version 0.0.4. The order of calls is the order
/// of the text: a family's samples follow its head at once. Pure.
class prometheus_writer {
public:
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// `type`: counter, gauge, histogram.
  void family(std::string_view name, std::string_view type, std::string_view help);
  /// One sample of the present family; `suffix` is for histograms ("_bucket").
  void sample(labels of, std::uint64_t value, std::string_view suffix = {});
  void sample(labels of, double value, std::string_view suffix = {});

  std::string take() { return std::move(out_); }

private:
  void write(labels of, std::string_view value, std::string_view suffix);

  std::string name_;
  std::string out_;
};

} // namespace vmswitch
