#include "app/ctl/top_model.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "app/ctl/ctl_views.hpp"
#include "app/ctl/text_table.hpp"
#include "app/printable.hpp"

namespace vmswitch {

namespace {

using nlohmann::json;
using order = top_model::order;

constexpr std::array<std::pair<order, std::string_view>, 5> orders{{{order::total, "traffic"},
                                                                    {order::in, "in"},
                                                                    {order::out, "out"},
                                                                    {order::drops, "drops"},
                                                                    {order::name, "name"}}};
constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::size_t head_lines = 4; // title, sums, an empty one, the table's titles

// The first `width` characters.
std::string cut(const std::string& text, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 && characters++ == width)
      return text.substr(0, i);
  return text;
}

std::string rate_text(double bits) {
  return short_number(bits) + "bit/s";
}

std::string painted(std::string text, const char* how, bool colour) {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", how, text) : text;
}

const char* colour_of(const top_model::port& port) {
  if (port.state == "stalled" || port.drops > 0)
    return "31";
  return port.state == "blocked" || port.state == "silent" || port.state == "down" ? "33" : "0";
}

} // namespace

void top_model::update(const json& ports, double seconds) {
  std::map<std::string, known> now;
  for (const auto& each : list_of(ports, "ports")) {
    // A name is not used again while the daemon runs, but the daemon may be another one.
    const auto key =
        text_of(each, "network") + '\n' + text_of(each, "name") + '\n' + text_of(each, "since");
    const auto before = ports_.find(key);
    known next;
    if (before != ports_.end())
      next = before->second;
    auto& shown = next.shown;
    const double elapsed = seconds - next.at;
    const auto rate = [&](const char* counter) {
      return before == ports_.end() || elapsed <= 0
                 ? 0
                 : std::max(0.0, number_of(each, counter) - number_of(next.counters, counter)) /
                       elapsed;
    };
    const bool is_silent = text_of(each, "state") == "silent"; // and its counters are empty
    if (!is_silent) {
      shown.bits_in = rate("bytes_in") * 8;
      shown.bits_out = rate("bytes_out") * 8;
      shown.frames_in = rate("frames_in");
      shown.frames_out = rate("frames_out");
      shown.drops = rate("dropped");
      shown.dropped = number_of(each, "dropped");
      shown.waiting =
          each.is_object() && each.contains("queue") ? number_of(each["queue"], "frames") : 0;
      if (before != ports_.end())
        shown.history.push_back(shown.bits_in + shown.bits_out);
      if (shown.history.size() > history_length)
        shown.history.pop_front();
      next.counters = each;
      next.at = seconds;
    }
    const auto alias = text_of(each, "alias");
    shown.name = alias.empty() ? text_of(each, "name") : alias;
    shown.network = text_of(each, "network");
    shown.state = text_of(each, "state");
    if (const auto isolated = each.find("isolated");
        shown.state == "up" && isolated != each.end() && *isolated == true)
      shown.state = "isolated";
    const auto& macs = list_of(each, "macs");
    shown.mac = !macs.empty() && macs[0].is_string() ? macs[0].get<std::string>() : "-";
    now.emplace(key, std::move(next));
  }
  ports_ = std::move(now);
}

std::vector<top_model::port> top_model::sorted(order by) const {
  std::vector<port> all;
  for (const auto& [key, each] : ports_)
    all.push_back(each.shown);
  const auto value = [by](const port& each) {
    switch (by) {
    case order::in:
      return each.bits_in;
    case order::out:
      return each.bits_out;
    case order::drops:
      return each.drops * 1e12 + each.dropped;
    case order::name:
      return 0.0;
    case order::total:
      break;
    }
    return each.bits_in + each.bits_out;
  };
  std::ranges::stable_sort(all, [&](const port& a, const port& b) { return value(a) > value(b); });
  return all;
}

top_model::port top_model::total() const {
  port sum;
  for (const auto& [key, each] : ports_) {
    sum.bits_in += each.shown.bits_in;
    sum.bits_out += each.shown.bits_out;
    sum.frames_in += each.shown.frames_in;
    sum.frames_out += each.shown.frames_out;
    sum.drops += each.shown.drops;
    sum.dropped += each.shown.dropped;
    sum.waiting += each.shown.waiting;
  }
  return sum;
}

top_model::order next_order(order now) {
  const auto at = std::ranges::find(orders, now, [](const auto& each) { return each.first; });
  return at + 1 == orders.end() ? orders.front().first : (at + 1)->first;
}

std::string_view name_of(order by) {
  return std::ranges::find(orders, by, [](const auto& each) { return each.first; })->second;
}

std::string sparkline(const std::deque<double>& values, std::size_t width) {
  const double largest = values.empty() ? 0 : *std::ranges::max_element(values);
  const auto first = values.size() > width ? values.size() - width : 0;
  std::string out(width - (values.size() - first), ' ');
  for (std::size_t i = first; i < values.size(); ++i) {
    const auto height = largest <= 0 ? 0 : values[i] / largest * 7.0;
    out += blocks[static_cast<std::size_t>(std::clamp(height + 0.5, 0.0, 7.0))];
  }
  return out;
}

std::string top_view(const top_model& model, const top_look& look) {
  const auto ports = model.sorted(look.by);
  const auto sum = model.total();
  std::vector<std::string> lines{
      cut(look.title, look.width),
      cut(fmt::format("{} ports by {}; from them {} ({} frames/s), to them {} ({} frames/s), "
                      "dropped {}/s",
                      ports.size(), name_of(look.by), rate_text(sum.bits_in),
                      short_number(sum.frames_in), rate_text(sum.bits_out),
                      short_number(sum.frames_out), short_number(sum.drops)),
          look.width),
      ""};
  constexpr std::string_view row = "{:<16} {:<8} {:>13} {:>13} {:>9} {:>9} {:>8}  {:<17}  {}";
  lines.push_back(painted(cut(fmt::format(row, "PORT", "STATE", "IN", "OUT", "DROPS/S", "DROPPED",
                                          "WAITING", "MAC", "TRAFFIC"),
                              look.width),
                          "1", look.colour));
  const std::size_t reserved = head_lines + (look.keys.empty() ? 0 : 1);
  const auto most = look.height == 0         ? ports.size()
                    : look.height > reserved ? look.height - reserved
                                             : 0;
  for (const auto& port : ports) {
    if (lines.size() == head_lines + most)
      break;
    lines.push_back(
        painted(cut(fmt::format(row, cut(printable(port.name), 16), cut(printable(port.state), 8),
                                rate_text(port.bits_in), rate_text(port.bits_out),
                                short_number(port.drops), short_number(port.dropped),
                                short_number(port.waiting), cut(printable(port.mac), 17),
                                sparkline(port.history, top_model::history_length)),
                    look.width),
                colour_of(port), look.colour));
  }
  if (!look.keys.empty())
    lines.push_back(painted(cut(look.keys, look.width), "2", look.colour));
  std::string out;
  for (const auto& line : lines)
    out += line + "\n";
  return out;
}

} // namespace vmswitch
