#include "app/ctl/ctl_views.hpp"

#include <cstdint>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "app/ctl/drop_advice.hpp"
#include "app/ctl/text_table.hpp"
#include "app/printable.hpp"

namespace vmswitch {

namespace {

using nlohmann::json;
using align = text_table::align;

const json& member(const json& object, const char* key) {
  static const json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

std::string count_text(const json& object, const char* key) {
  return fmt::format("{:.0f}", number_of(object, key));
}

// "12 (runt)", "12 (runt, ...)"
std::string drops_text(const json& object) {
  const auto total = number_of(object, "dropped");
  if (total <= 0)
    return "0";
  std::string most;
  double frames = 0;
  const auto& drops = member(object, "drops");
  for (const auto& [reason, count] : drops.items())
    if (count.is_number() && count.get<double>() > frames) {
      most = reason;
      frames = count.get<double>();
    }
  return fmt::format("{:.0f} ({}{})", total, most, drops.size() > 1 ? ", ..." : "");
}

std::string dash_if_empty(std::string text) {
  return text.empty() ? "-" : text;
}

// Networks that an answer lacks.
std::string silent_text(const json& answer) {
  std::string text;
  for (const auto& each : list_of(answer, "silent"))
    if (each.is_string())
      text += fmt::format("network {} did not answer in time: try again\n",
                          printable(each.get<std::string>()));
  return text;
}

std::string state_text(const json& port) {
  return text_of(port, "state") + (member(port, "isolated") == json(true) ? ", isolated" : "");
}

std::string mac_text(const json& port) {
  const auto& macs = list_of(port, "macs");
  if (macs.empty() || !macs[0].is_string())
    return "-";
  const auto more = number_of(port, "mac_count") - 1;
  return more > 0 ? fmt::format("{} +{:.0f}", macs[0].get<std::string>(), more)
                  : macs[0].get<std::string>();
}

} // namespace

std::string text_of(const json& object, const char* key) {
  const auto& found = member(object, key);
  return found.is_string() ? found.get<std::string>() : std::string{};
}

double number_of(const json& object, const char* key) {
  const auto& found = member(object, key);
  return found.is_number() ? found.get<double>() : 0;
}

std::string port_text(const json& object, const char* key) {
  const auto alias = text_of(object, "alias");
  return text_of(object, key) + (alias.empty() ? "" : " (" + alias + ")");
}

const json& list_of(const json& object, const char* key) {
  static const json none = json::array();
  const auto& found = member(object, key);
  return found.is_array() ? found : none;
}

std::string networks_view(const json& networks, bool colour) {
  text_table table{{{"NETWORK"},
                    {"STATE"},
                    {"MODE"},
                    {"SUBNET"},
                    {"VMS", align::right},
                    {"FRAMES IN", align::right},
                    {"BYTES IN", align::right},
                    {"DROPPED", align::right},
                    {"SOCKETS"}}};
  for (const auto& each : list_of(networks, "networks")) {
    std::string sockets;
    for (const auto& listener : list_of(each, "listeners"))
      sockets += (sockets.empty() ? "" : " ") + text_of(listener, "path");
    const bool host_is_down = text_of(each, "mode") != "isolated" &&
                              !member(each, "host_up").is_null() &&
                              member(each, "host_up") == json(false);
    table.add({text_of(each, "name"), text_of(each, "state") + (host_is_down ? ", host down" : ""),
               text_of(each, "mode"), dash_if_empty(text_of(each, "subnet")),
               count_text(each, "ports"), count_text(each, "frames_in"),
               bytes_text(number_of(each, "bytes_in")), drops_text(each), sockets});
  }
  return table.render(colour);
}

std::string status_view(const json& status, const json& networks, bool colour) {
  return fmt::format("vmswitchd {}, pid {:.0f}, up {}, log level {}, your role: {}\n\n",
                     text_of(status, "version"), number_of(status, "pid"),
                     duration_text(static_cast<std::int64_t>(number_of(status, "uptime_seconds"))),
                     text_of(status, "log_level"), text_of(status, "role")) +
         networks_view(networks, colour);
}

std::string ports_view(const json& ports, bool colour) {
  text_table table{{{"PORT"},
                    {"NETWORK"},
                    {"STATE"},
                    {"MAC"},
                    {"FRAMES IN", align::right},
                    {"BYTES IN", align::right},
                    {"FRAMES OUT", align::right},
                    {"BYTES OUT", align::right},
                    {"DROPPED", align::right},
                    {"WAITING", align::right},
                    {"AGE", align::right},
                    {"PEER"}}};
  for (const auto& each : list_of(ports, "ports"))
    table.add({port_text(each, "name"), text_of(each, "network"), state_text(each), mac_text(each),
               count_text(each, "frames_in"), bytes_text(number_of(each, "bytes_in")),
               count_text(each, "frames_out"), bytes_text(number_of(each, "bytes_out")),
               drops_text(each), count_text(member(each, "queue"), "frames"),
               duration_text(static_cast<std::int64_t>(number_of(each, "age_seconds"))),
               dash_if_empty(text_of(each, "peer"))});
  return table.render(colour);
}

std::string macs_view(const json& macs, bool colour) {
  text_table table{{{"MAC"}, {"NETWORK"}, {"PORT"}, {"SEEN", align::right}}};
  for (const auto& each : list_of(macs, "macs"))
    table.add(
        {text_of(each, "mac"), text_of(each, "network"), dash_if_empty(port_text(each, "port")),
         fmt::format("{} ago",
                     duration_text(static_cast<std::int64_t>(number_of(each, "age_seconds"))))});
  return table.render(colour);
}

std::string leases_view(const json& leases, bool colour) {
  text_table table{
      {{"ADDRESS"}, {"MAC"}, {"NAME"}, {"STATE"}, {"ENDS IN", align::right}, {"NETWORK"}}};
  for (const auto& each : list_of(leases, "leases")) {
    const auto left = static_cast<std::int64_t>(number_of(each, "seconds_left"));
    table.add({text_of(each, "address"), text_of(each, "mac"), dash_if_empty(text_of(each, "name")),
               text_of(each, "state"), left > 0 ? duration_text(left) : "-",
               text_of(each, "network")});
  }
  return table.render(colour);
}

std::string forwards_view(const json& forwards, bool colour) {
  text_table table{{{"ON THE HOST"},
                    {"TO"},
                    {"ADDRESS NOW"},
                    {"OPEN", align::right},
                    {"ACCEPTED", align::right},
                    {"TO VM", align::right},
                    {"FROM VM", align::right},
                    {"ORIGIN"},
                    {"NETWORK"}}};
  for (const auto& each : list_of(forwards, "forwards")) {
    const auto rule = text_of(each, "rule");
    const auto arrow = rule.find(" -> ");
    const bool is_counted = member(each, "accepted").is_number();
    const auto bytes = [&](const char* key) {
      return is_counted ? bytes_text(number_of(each, key)) : "-";
    };
    table.add({rule.substr(0, arrow), arrow == std::string::npos ? "" : rule.substr(arrow + 4),
               dash_if_empty(text_of(each, "address")), is_counted ? count_text(each, "open") : "-",
               is_counted ? count_text(each, "accepted") : "-", bytes("bytes_to_vm"),
               bytes("bytes_from_vm"), text_of(each, "origin"), text_of(each, "network")});
  }
  const auto silent = silent_text(forwards);
  return table.empty() && silent.empty() ? "No port of the host leads to a VM.\n"
                                         : table.render(colour) + silent;
}

std::string dns_view(const json& records, bool colour) {
  text_table table{{{"NAME"}, {"TYPE"}, {"VALUE"}, {"ORIGIN"}, {"NETWORK"}}};
  for (const auto& each : list_of(records, "records"))
    table.add({text_of(each, "name"), text_of(each, "type"), text_of(each, "value"),
               text_of(each, "origin"), text_of(each, "network")});
  return table.render(colour) + silent_text(records);
}

std::string captures_view(const json& captures, bool colour) {
  text_table table{{{"NETWORK"},
                    {"PORT"},
                    {"FILTER"},
                    {"FRAMES", align::right},
                    {"LOST", align::right},
                    {"SINCE"}}};
  for (const auto& each : list_of(captures, "captures")) {
    const auto port = text_of(each, "port");
    table.add({text_of(each, "network"), port.empty() ? "all" : port,
               dash_if_empty(text_of(each, "filter")),
               fmt::format("{:.0f}", number_of(each, "frames")),
               fmt::format("{:.0f}", number_of(each, "lost")), text_of(each, "since")});
  }
  return table.render(colour);
}

std::string drops_view(const json& networks, const json& ports, bool colour) {
  text_table table{
      {{"NETWORK"}, {"WHERE"}, {"REASON"}, {"FRAMES", align::right}, {"WHAT IT MEANS"}}};
  const auto add = [&](const std::string& network, const std::string& where,
                       const std::string& reason, double frames) {
    table.add({network, where, reason, fmt::format("{:.0f}", frames), drop_advice(reason)});
  };
  for (const auto& network : list_of(networks, "networks")) {
    const auto name = text_of(network, "name");
    std::map<std::string, double> elsewhere; // of ports that have gone
    for (const auto& [reason, count] : member(network, "drops").items())
      if (count.is_number())
        elsewhere[reason] = count.get<double>();
    for (const auto& port : list_of(ports, "ports"))
      if (text_of(port, "network") == name)
        for (const auto& [reason, count] : member(port, "drops").items()) {
          add(name, port_text(port, "name"), reason, count.is_number() ? count.get<double>() : 0);
          elsewhere[reason] -= count.is_number() ? count.get<double>() : 0;
        }
    for (const auto& listener : list_of(network, "listeners"))
      for (const auto& [reason, count] : member(listener, "drops").items()) {
        add(name, text_of(listener, "path"), reason, count.is_number() ? count.get<double>() : 0);
        elsewhere[reason] -= count.is_number() ? count.get<double>() : 0;
      }
    for (const auto& [reason, frames] : elsewhere)
      if (frames > 0)
        add(name, "(ports that have gone)", reason, frames);
  }
  return table.empty() ? "No frame has been dropped.\n" : table.render(colour);
}

} // namespace vmswitch
