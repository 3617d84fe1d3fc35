#include "app/control/prometheus_writer.hpp"

#include <iterator>

#include <fmt/format.h>

namespace vmswitch {

namespace {

void escape(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && quotes)
      out += "\\\"";
    else
      out += c;
  }
}

} // namespace

void prometheus_writer::family(std::string_view name, std::string_view type,
                               std::string_view help) {
  name_ = name;
  out_ += fmt::format("# HELP {} ", name);
  escape(out_, help, false);
  out_ += fmt::format("\n# TYPE {} {}\n", name, type);
}

void prometheus_writer::sample(labels of, std::uint64_t value, std::string_view suffix) {
  write(of, fmt::to_string(value), suffix);
}

void prometheus_writer::sample(labels of, double value, std::string_view suffix) {
  write(of, fmt::format("{:.9g}", value), suffix);
}

void prometheus_writer::write(labels of, std::string_view value, std::string_view suffix) {
  out_ += name_;
  out_ += suffix;
  char before = '{';
  for (const auto& [name, text] : of) {
    out_ += before;
    out_ += name;
    out_ += "=\"";
    escape(out_, text, true);
    out_ += '"';
    before = ',';
  }
  if (of.size() > 0)
    out_ += '}';
  out_ += ' ';
  out_ += value;
  out_ += '\n';
}

} // namespace vmswitch
