#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace vmswitch {

/// What a program's command line is made of, as it was declared to CLI11: manual pages and shell
/// completion are made from it, so that they cannot differ from --help.
struct option_info {
  std::vector<std::string> names; // "-n", "--network"; of an argument without a name: "SOCKET"
  std::string value;              // "NAME"; empty: it takes none
  std::vector<std::string> choices;
  std::string description;
  bool positional = false;
  bool required = false;
};

struct command_info {
  std::string name;
  std::string description;
  std::vector<option_info> options;
  std::vector<command_info> commands;
};

/// Hidden options and commands (those without a group) are left out.
command_info describe(const CLI::App& app);

} // namespace vmswitch
