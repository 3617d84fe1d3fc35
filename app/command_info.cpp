#include "app/command_info.hpp"

#include <string_view>

#include <CLI/CLI.hpp>

namespace vmswitch {

namespace {

// CLI11 puts the choices of IsMember behind the type: "WHEN:{auto,always,never}".
void read_type(const std::string& type, option_info& option) {
  const auto open = type.find('{');
  const auto close = type.rfind('}');
  option.value = type.substr(0, type.find_first_of(":{ "));
  if (open == std::string::npos || close == std::string::npos || close < open)
    return;
  std::string_view list{type};
  list = list.substr(open + 1, close - open - 1);
  while (!list.empty()) {
    const auto one = list.substr(0, list.find(','));
    option.choices.emplace_back(one);
    list.remove_prefix(one.size() < list.size() ? one.size() + 1 : list.size());
  }
}

option_info describe_option(const CLI::Option& from) {
  option_info option;
  option.positional = from.nonpositional() == false;
  option.required = from.get_required();
  if (option.positional)
    option.names.push_back(from.get_name(true));
  for (const auto& name : from.get_snames())
    option.names.push_back("-" + name);
  for (const auto& name : from.get_lnames())
    option.names.push_back("--" + name);
  if (from.get_items_expected_max() > 0)
    read_type(from.get_type_name(), option);
  option.description = from.get_description();
  return option;
}

} // namespace

command_info describe(const CLI::App& app) {
  command_info info{app.get_name(), app.get_description(), {}, {}};
  for (const auto* option : app.get_options())
    if (!option->get_group().empty())
      info.options.push_back(describe_option(*option));
  for (const auto* command : app.get_subcommands({}))
    if (!command->get_group().empty())
      info.commands.push_back(describe(*command));
  return info;
}

} // namespace vmswitch
