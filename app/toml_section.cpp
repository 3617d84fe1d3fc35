#include "app/toml_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/suggestion.hpp"

namespace vmswitch {

namespace {

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
  case toml::node_type::table:
    return "a table";
  case toml::node_type::array:
    return "a list";
  case toml::node_type::string:
    return "text";
  case toml::node_type::integer:
    return "a whole number";
  case toml::node_type::floating_point:
    return "a number with a fraction";
  case toml::node_type::boolean:
    return "true or false";
  default:
    return "a date or time";
  }
}

} // namespace

toml_section::toml_section(const toml::table& table, std::string name, config_report& report)
    : table_{table}, name_{std::move(name)}, report_{report} {}

std::optional<std::string> toml_section::text(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr)
    return {};
  if (const auto* value = node->as_string())
    return value->get();
  complain_type(key, *node, "text in double quotes");
  return {};
}

std::optional<std::int64_t> toml_section::integer(std::string_view key, std::int64_t low,
                                                  std::int64_t high) {
  const auto* node = find(key);
  if (node == nullptr)
    return {};
  const auto* value = node->as_integer();
  if (value == nullptr) {
    complain_type(key, *node, fmt::format("a whole number from {} to {}", low, high));
    return {};
  }
  if (value->get() < low || value->get() > high) {
    complain(key, fmt::format("{} is out of range: write {} to {}", value->get(), low, high));
    return {};
  }
  return value->get();
}

std::optional<bool> toml_section::flag(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr)
    return {};
  if (const auto* value = node->as_boolean())
    return value->get();
  complain_type(key, *node, "true or false without quotes");
  return {};
}

std::optional<std::vector<toml_section::placed_text>> toml_section::texts(std::string_view key,
                                                                          std::size_t most) {
  const auto* node = find(key);
  if (node == nullptr)
    return {};
  const auto* list = node->as_array();
  if (list == nullptr) {
    complain_type(key, *node, "a list of texts: [\"...\", \"...\"]");
    return {};
  }
  if (list->size() > most) {
    complain(key, fmt::format("the list has {} texts, and may have {}", list->size(), most));
    return {};
  }
  std::vector<placed_text> found;
  for (const auto& element : *list) {
    const auto* value = element.as_string();
    if (value == nullptr) {
      report_.add(
          element.source().begin, name_of(key),
          fmt::format("this is {}, where text in double quotes is meant", kind_of(element)));
      return {};
    }
    found.push_back({value->get(), element.source().begin});
  }
  return found;
}

const toml::table* toml_section::table(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr)
    return nullptr;
  if (const auto* value = node->as_table())
    return value;
  complain_type(key, *node, fmt::format("a table: [{}]", name_of(key)));
  return nullptr;
}

std::vector<const toml::table*> toml_section::tables(std::string_view key, std::size_t most) {
  const auto* node = find(key);
  if (node == nullptr)
    return {};
  std::vector<const toml::table*> found;
  if (const auto* single = node->as_table()) {
    complain(key, fmt::format("there may be several: write double brackets, [[{}]]", name_of(key)));
    found.push_back(single); // its contents are looked at all the same
    return found;
  }
  const auto* list = node->as_array();
  if (list == nullptr) {
    complain_type(key, *node, fmt::format("tables, each with [[{}]] above", name_of(key)));
    return {};
  }
  for (const auto& element : *list) {
    if (found.size() == most) {
      report_.add(element.source().begin, name_of(key), fmt::format("more than {} of them", most));
      break;
    }
    if (const auto* one = element.as_table())
      found.push_back(one);
    else
      report_.add(element.source().begin, name_of(key),
                  fmt::format("this is {}, where a table is meant: [[{}]]", kind_of(element),
                              name_of(key)));
  }
  return found;
}

std::string toml_section::name_of(std::string_view key) const {
  return name_.empty() ? std::string{key} : fmt::format("{}.{}", name_, key);
}

toml::source_position toml_section::place_of(std::string_view key) const {
  const auto* node = table_.get(key);
  auto place = (node != nullptr ? *node : table_).source().begin;
  return {std::max<toml::source_index>(place.line, 1),
          std::max<toml::source_index>(place.column, 1)};
}

void toml_section::complain(std::string_view key, std::string text) {
  report_.add(place_of(key), name_of(key), std::move(text));
}

void toml_section::finish() {
  for (const auto& [key, value] : table_) {
    if (std::ranges::find(known_, key.str()) != known_.end())
      continue;
    const auto suggestion = did_you_mean(key.str(), known_);
    report_.add(key.source().begin, name_of(key.str()),
                suggestion.empty()
                    ? fmt::format("there is no such key here, only {}", fmt::join(known_, ", "))
                    : "there is no such key" + suggestion);
  }
}

const toml::node* toml_section::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end())
    known_.push_back(key);
  return table_.get(key);
}

void toml_section::complain_type(std::string_view key, const toml::node& node,
                                 std::string_view wanted) {
  complain(key, fmt::format("this is {}, where {} is meant", kind_of(node), wanted));
}

} // namespace vmswitch
