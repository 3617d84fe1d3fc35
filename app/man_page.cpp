#include "app/man_page.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "app/version.hpp"

namespace vmswitch {

namespace {

// Text for roff: backslashes, hyphens that are to stay such, dots and quotes at a line's begin.
std::string escaped(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\''))
    out += "\\&";
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += ' ';
    else
      out += c;
  }
  return out;
}

std::string tag_of(const option_info& option) {
  std::string tag;
  for (const auto& name : option.names)
    tag += fmt::format("{}\\fB{}\\fR", tag.empty() ? "" : ", ", escaped(name));
  if (!option.value.empty() && !option.positional)
    tag += fmt::format(" \\fI{}\\fR", escaped(option.value));
  return tag;
}

void write_options(std::string& out, const command_info& command) {
  for (const auto& option : command.options)
    out += fmt::format(".TP\n{}\n{}\n", tag_of(option), escaped(option.description));
}

void write_commands(std::string& out, const command_info& command, const std::string& before) {
  for (const auto& each : command.commands) {
    const auto name = before + each.name;
    out += fmt::format(".SS {}\n{}.\n", escaped(name), escaped(each.description));
    write_options(out, each);
    write_commands(out, each, name + " ");
  }
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return text;
}

std::string synopsis(const command_info& program) {
  std::string out = fmt::format("\\fB{}\\fR [\\fIOPTION\\fR]...", escaped(program.name));
  if (!program.commands.empty())
    out += " \\fICOMMAND\\fR [\\fIOPTION\\fR]...";
  for (const auto& option : program.options)
    if (option.positional)
      out += (option.required ? " \\fI" : " [\\fI") + escaped(option.names.front()) +
             (option.required ? "\\fR" : "\\fR]");
  return out;
}

} // namespace

std::string man_page(const command_info& program, int section,
                     const std::vector<man_section>& more) {
  const auto colon = program.description.find(": ");
  const auto brief =
      colon == std::string::npos ? program.description : program.description.substr(colon + 2);
  auto out = fmt::format(".TH {} {} \"\" \"vmswitch {}\" \"vmswitch\"\n.SH NAME\n{} \\- {}\n"
                         ".SH SYNOPSIS\n{}\n.SH OPTIONS\n",
                         upper(program.name), section, version(), escaped(program.name),
                         escaped(brief), synopsis(program));
  write_options(out, program);
  if (!program.commands.empty())
    out += ".SH COMMANDS\n";
  write_commands(out, program, "");
  for (const auto& each : more) {
    out += fmt::format(".SH {}\n", escaped(each.title));
    for (const auto& [tag, text] : each.entries)
      out += tag.empty() ? fmt::format(".PP\n{}\n", escaped(text))
                         : fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(tag), escaped(text));
  }
  return out;
}

} // namespace vmswitch
