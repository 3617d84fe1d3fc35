#include "app/ctl/completion.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace vmswitch {

namespace {

// What the value of an option is completed with: words, files, or what the daemon has.
struct values {
  std::vector<std::string> words;
  bool files = false;
  std::string names; // "networks", "ports"
};

values values_of(const option_info& option) {
  if (!option.choices.empty())
    return {option.choices, false, {}};
  if (option.value == "PATH" || option.value == "FILE")
    return {{}, true, {}};
  for (const auto& name : option.names) {
    if (name == "--network")
      return {{}, false, "networks"};
    if (name == "--port" || name == "PORT")
      return {{}, false, "ports"};
    if (name == "LEVEL")
      return {{"trace", "debug", "info", "warn", "error"}, false, {}};
  }
  return {};
}

// Calls `visit(path, command)` for every command; the program itself has an empty path.
void for_each_command(const command_info& command, const std::string& path,
                      const std::function<void(const std::string&, const command_info&)>& visit) {
  visit(path, command);
  for (const auto& each : command.commands)
    for_each_command(each, path + " " + each.name, visit);
}

std::string dynamic_words(const command_info& program, const std::string& what) {
  return fmt::format("$({} names {} 2>/dev/null)", program.name, what);
}

// Common options may stand behind every command.
std::string words_of(const command_info& program, const command_info& command) {
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
  for (const auto& each : command.commands)
    add(each.name);
  for (const auto* from : {&command, &program}) {
    for (const auto& option : from->options) {
      if (!option.positional) {
        add(option.names.back());
        continue;
      }
      const auto value = values_of(option);
      for (const auto& word : value.words)
        add(word);
      if (!value.names.empty())
        add(dynamic_words(program, value.names));
    }
    if (&command == &program)
      break;
  }
  return words;
}

std::string bash_script(const command_info& program) {
  std::string paths, prevs, words;
  std::vector<std::string> seen;
  for_each_command(program, "", [&](const std::string& path, const command_info& command) {
    if (!path.empty())
      paths += fmt::format("      '{}') path='{}' ;;\n", path, path);
    words += fmt::format("    '{}') words=\"{}\" ;;\n", path, words_of(program, command));
    for (const auto& option : command.options) {
      const auto names = fmt::format("{}", fmt::join(option.names, " | "));
      if (option.positional || option.value.empty() ||
          std::find(seen.begin(), seen.end(), names) != seen.end())
        continue;
      seen.push_back(names);
      const auto value = values_of(option);
      const auto compgen = value.files ? std::string{"-f"}
                           : !value.names.empty()
                               ? fmt::format("-W \"{}\"", dynamic_words(program, value.names))
                               : fmt::format("-W \"{}\"", fmt::join(value.words, " "));
      prevs +=
          fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$cur\")); return ;;\n", names, compgen);
    }
  });
  return fmt::format(R"(# bash completion for {0}: source <({0} completion bash)
_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} path='' words='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${{COMP_WORDS[i]}}" in
{1}    esac
  done
  case $prev in
{2}  esac
  case $path in
{3}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -F _{0} {0}
)",
                     program.name, paths, prevs, words);
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return out + "'";
}

// '(-n --network)'{-n,--network}'[Only of this network]:NAME:(...)'
std::string zsh_argument(const command_info& program, const option_info& option) {
  std::string help;
  for (const char c : option.description)
    help += c == '[' || c == ']' || c == ':' ? std::string{"\\"} + c : std::string(1, c);
  const auto value = values_of(option);
  std::string action;
  if (!option.value.empty() || option.positional)
    action = fmt::format(":{}:{}", option.value.empty() ? option.names.front() : option.value,
                         value.files ? std::string{"_files"}
                         : !value.names.empty()
                             ? fmt::format("({})", dynamic_words(program, value.names))
                             : fmt::format("({})", fmt::join(value.words, " ")));
  if (option.positional)
    return fmt::format("    {} \\\n", value.names.empty() ? shell_quoted("1" + action)
                                                          : fmt::format("\"1{}\"", action));
  std::string lines;
  for (const auto& name : option.names) {
    const auto spec = fmt::format("{}[{}]{}", name, help, action);
    lines += fmt::format("    {} \\\n",
                         value.names.empty() ? shell_quoted(spec) : fmt::format("\"{}\"", spec));
  }
  return lines;
}

// What stands in `case $words[1]`: each command's arguments, behind `words` has been cut to it.
std::string zsh_cases(const command_info& program, const command_info& of,
                      const std::string& common) {
  std::string cases;
  for (const auto& each : of.commands) {
    cases += fmt::format("    {})\n      ", each.name);
    if (each.commands.empty()) {
      cases += "_arguments \\\n";
      for (const auto& option : each.options)
        cases += zsh_argument(program, option);
      cases += common + "      && return ;;\n";
    } else {
      std::string names;
      for (const auto& inner : each.commands)
        names += (names.empty() ? "" : " ") + inner.name;
      cases += fmt::format("_arguments -C '1:command:({})' '*::argument:->inner' && return\n"
                           "      case $words[1] in\n{}    esac ;;\n",
                           names, zsh_cases(program, each, common));
    }
  }
  return cases;
}

std::string zsh_script(const command_info& program) {
  std::string commands, common;
  for (const auto& option : program.options)
    common += zsh_argument(program, option);
  for (const auto& each : program.commands)
    commands += fmt::format("    {}\n", shell_quoted(each.name + ":" + each.description));
  return fmt::format(R"(#compdef {0}
_{0}() {{
  local curcontext=$curcontext state line
  local -a commands=(
{1}  )
  _arguments -C \
{2}    '1:command:->command' '*::argument:->argument' && return
  case $state in
  command) _describe command commands ;;
  argument)
    case $words[1] in
{3}    esac ;;
  esac
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _{0} "$@"; else compdef _{0} {0}; fi
)",
                     program.name, commands, common, zsh_cases(program, program, common));
}

std::string fish_option(const command_info& program, const option_info& option,
                        const std::string& condition) {
  if (option.positional) {
    const auto value = values_of(option);
    auto words = fmt::format("{}", fmt::join(value.words, " "));
    if (!value.names.empty())
      words = fmt::format("({} names {} 2>/dev/null)", program.name, value.names);
    return words.empty() ? words
                         : fmt::format("complete -c {}{} -a {}\n", program.name, condition,
                                       shell_quoted(words));
  }
  auto line = fmt::format("complete -c {}{}", program.name, condition);
  for (const auto& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty()) {
    const auto value = values_of(option);
    line += value.files ? " -r -F"
            : !value.names.empty()
                ? fmt::format(" -x -a '({} names {} 2>/dev/null)'", program.name, value.names)
                : fmt::format(" -x -a '{}'", fmt::join(value.words, " "));
  }
  return line + " -d " + shell_quoted(option.description) + "\n";
}

std::string fish_script(const command_info& program) {
  auto out = fmt::format("# fish completion for {0}: {0} completion fish | source\n"
                         "complete -c {0} -f\n",
                         program.name);
  for (const auto& option : program.options)
    out += fish_option(program, option, "");
  for (const auto& command : program.commands) {
    out += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program.name,
                       command.name, shell_quoted(command.description));
    const auto seen = fmt::format("__fish_seen_subcommand_from {}", command.name);
    for (const auto& option : command.options)
      out += fish_option(program, option, fmt::format(" -n '{}'", seen));
    for (const auto& inner : command.commands) {
      const auto inner_seen = fmt::format("__fish_seen_subcommand_from {}", inner.name);
      out += fmt::format("complete -c {} -n '{}; and not {}' -a {} -d {}\n", program.name, seen,
                         inner_seen, inner.name, shell_quoted(inner.description));
      for (const auto& option : inner.options)
        out += fish_option(program, option, fmt::format(" -n '{}; and {}'", seen, inner_seen));
    }
  }
  return out;
}

} // namespace

std::optional<std::string> completion_script(const command_info& program, std::string_view shell) {
  if (shell == "bash")
    return bash_script(program);
  if (shell == "zsh")
    return zsh_script(program);
  if (shell == "fish")
    return fish_script(program);
  return {};
}

} // namespace vmswitch
