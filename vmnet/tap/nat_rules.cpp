#include "vmnet/tap/nat_rules.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "vmnet/tap/tap_names.hpp"
#include "vmnet/tap/undo_record.hpp"

namespace vmswitch {

namespace {

constexpr std::string_view record_prefix = "was_";

// What may be recorded, and so written back: a table of this name may be anybody's work.
constexpr std::array<std::string_view, 6> recordable{
    "ipv4_forwarding_0_1", "ipv6_forwarding_0_1",       "ipv6_forwarding_1_1",
    "ipv6_accept_ra_1_2",  "ipv6_force_forwarding_0_1", "ipv6_forwarding_all_0_1"};

// "all" is no device: it has a set of its own, so that the order is kept.
std::string record_of(const setting_change& change) {
  return fmt::format("{}_{}{}_{}_{}", change.family, change.key,
                     change.device == "all" ? "_all" : "", change.from, change.to);
}

bool is_device_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_device_name && name != "." && name != ".." &&
         std::ranges::all_of(name, [](char c) {
           return static_cast<unsigned char>(c) > ' ' && c != '/' && c != '"' && c != '\x7f';
         });
}

void write_set(std::string& out, std::string_view name, std::vector<std::string> devices) {
  std::erase_if(devices, [](const std::string& device) { return !is_device_name(device); });
  auto at = std::back_inserter(out);
  fmt::format_to(at, "  set {} {{\n    type ifname\n", name);
  for (std::size_t i = 0; i < devices.size(); ++i)
    fmt::format_to(at, "{}\"{}\"", i == 0 ? "    elements = { " : ", ", devices[i]);
  out += devices.empty() ? "  }\n" : " }\n  }\n";
}

void write_records(std::string& out, const std::vector<setting_change>& changes) {
  std::vector<std::string> kinds;
  for (const auto& change : changes)
    if (const auto kind = record_of(change); std::ranges::find(kinds, kind) == kinds.end())
      kinds.push_back(kind);
  for (const auto& kind : kinds) {
    std::vector<std::string> devices;
    for (const auto& change : changes)
      if (record_of(change) == kind)
        devices.push_back(change.device);
    write_set(out, fmt::format("{}{}", record_prefix, kind), std::move(devices));
  }
}

// The elements are numbers, for the order.
void write_undo(std::string& out, const std::vector<device_step>& undo) {
  std::string elements;
  for (std::size_t i = 0; i < undo.size(); ++i)
    if (const auto record = to_record(undo[i]))
      elements += fmt::format("{}{} comment \"{}\"", elements.empty() ? "" : ", ", i, *record);
  if (!elements.empty())
    out += fmt::format("  set undo {{\n    type mark\n    elements = {{ {} }}\n  }}\n", elements);
}

setting_change change_for(std::string_view kind, std::string device) {
  const auto family = kind.substr(0, 4);
  auto key = kind.substr(5, kind.size() - 5 - 4); // without the values behind it
  if (key.ends_with("_all"))
    key.remove_suffix(4);
  return {std::string{family}, std::move(device), std::string{key},
          std::string{kind.substr(kind.size() - 3, 1)}, std::string{kind.substr(kind.size() - 1)}};
}

// Which packets of the device are the network's own.
std::vector<std::string> sources_of(const host_config& config) {
  std::vector<std::string> sources{fmt::format("ip saddr {}", to_string(config.subnet))};
  if (gateway6_for(config))
    sources.push_back(fmt::format("ip6 saddr {}/64", to_string(ula_prefix_for(config))));
  return sources;
}

// For IPv4 the kernel's rp_filter does this; for IPv6 it has none.
void write_spoof_filter(std::string& out, const host_config& config, std::string_view device) {
  if (!gateway6_for(config))
    return;
  fmt::format_to(std::back_inserter(out),
                 "  chain prerouting {{\n"
                 "    type filter hook prerouting priority raw; policy accept;\n"
                 "    iifname \"{}\" ip6 saddr != {{ {}/64, fe80::/10, :: }} counter drop\n  }}\n",
                 device, to_string(ula_prefix_for(config)));
}

nlohmann::json objects_in(std::string_view json) {
  auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("nftables") || !parsed["nftables"].is_array())
    return nlohmann::json::array();
  return parsed["nftables"];
}

// The text of a member, "" if it is missing or no text.
std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

} // namespace

std::string nat_rules(const host_config& config, const std::string& device,
                      const forwarding_plan& plan, const std::vector<device_step>& undo) {
  const auto table = table_name_for(device);
  std::string out;
  auto at = std::back_inserter(out);
  // "add" first, since "delete" fails for a table that is not there.
  fmt::format_to(at, "add table inet {0}\ndelete table inet {0}\ntable inet {0} {{\n", table);
  write_records(out, plan.changes);
  write_undo(out, undo);
  write_set(out, "closed4", plan.closed4);
  write_set(out, "closed6", plan.closed6);
  write_spoof_filter(out, config, device);

  out += "  chain forward {\n    type filter hook forward priority filter; policy accept;\n";
  if (config.mode == host_mode::host) {
    fmt::format_to(at, "    iifname \"{0}\" drop\n    oifname \"{0}\" drop\n  }}\n}}\n", device);
    return out;
  }
  const auto sources = sources_of(config);
  for (const auto& source : sources)
    fmt::format_to(at, "    iifname \"{}\" {} accept\n", device, source);
  fmt::format_to(at, "    iifname \"{}\" drop\n", device);
  fmt::format_to(at, "    oifname \"{}\" ct state established,related accept\n", device);
  fmt::format_to(at, "    oifname \"{}\" drop\n", device);
  // Others that forward of their own accord (containers, say) have set up translation for it.
  out += "    ct state established,related accept\n    ct status dnat accept\n";
  out += "    meta nfproto ipv4 iifname @closed4 drop\n";
  out += "    meta nfproto ipv6 iifname @closed6 drop\n  }\n";

  out += "  chain postrouting {\n    type nat hook postrouting priority srcnat; policy accept;\n";
  for (const auto& source : sources)
    fmt::format_to(at, "    iifname \"{0}\" oifname != \"{0}\" {1} masquerade\n", device, source);
  out += "  }\n}\n";
  return out;
}

std::string without_nat_rules(const std::string& device) {
  return fmt::format("add table inet {0}\ndelete table inet {0}\n", table_name_for(device));
}

std::string list_tables() {
  return "list tables inet";
}

std::string list_table(const std::string& device) {
  return fmt::format("list table inet {}", table_name_for(device));
}

std::vector<std::string> devices_in(std::string_view json) {
  std::vector<std::string> found;
  for (const auto& object : objects_in(json))
    if (object.is_object() && object.contains("table") && object["table"].is_object() &&
        text_in(object["table"], "family") == "inet")
      if (auto device = device_of_table(text_in(object["table"], "name"));
          device && is_device_name(*device))
        found.push_back(std::move(*device));
  return found;
}

std::size_t rules_in(std::string_view json) {
  const auto objects = objects_in(json);
  return static_cast<std::size_t>(std::ranges::count_if(objects, [](const nlohmann::json& object) {
    return object.is_object() && object.contains("rule");
  }));
}

std::vector<device_step> undo_in(std::string_view json) {
  std::map<std::size_t, device_step> found;
  for (const auto& object : objects_in(json)) {
    if (!object.is_object() || !object.contains("set") || !object["set"].is_object() ||
        text_in(object["set"], "name") != "undo")
      continue;
    for (const auto& element : object["set"].value("elem", nlohmann::json::array())) {
      const auto inner = element.is_object() ? element.find("elem") : element.end();
      if (inner == element.end() || !inner->is_object() || !inner->contains("val") ||
          !(*inner)["val"].is_number_unsigned())
        continue;
      if (auto step = from_record(text_in(*inner, "comment")))
        found.emplace((*inner)["val"].get<std::size_t>(), std::move(*step));
    }
  }
  std::vector<device_step> steps;
  for (auto& [number, step] : found)
    steps.push_back(std::move(step));
  return steps;
}

std::vector<setting_change> changes_in(std::string_view json) {
  std::vector<setting_change> found;
  for (const auto& object : objects_in(json)) {
    if (!object.is_object() || !object.contains("set") || !object["set"].is_object())
      continue;
    const auto& set = object["set"];
    const auto name = text_in(set, "name");
    if (!name.starts_with(record_prefix) || !set.contains("elem") || !set["elem"].is_array())
      continue;
    const auto kind = std::string_view{name}.substr(record_prefix.size());
    if (std::ranges::find(recordable, kind) == recordable.end())
      continue;
    for (const auto& element : set["elem"])
      if (element.is_string() && is_device_name(element.get<std::string>()))
        found.push_back(change_for(kind, element.get<std::string>()));
  }
  return found;
}

} // namespace vmswitch
