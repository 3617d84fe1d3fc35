#include "app/reload/reload_text.hpp"

#include <algorithm>
#include <chrono>
#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/setting_values.hpp"

namespace vmswitch {

namespace {

std::string shown(bool value) {
  return value ? "true" : "false";
}
template <std::integral Number>
std::string shown(Number value) {
  return fmt::to_string(value);
}
template <class Rep, class Period>
std::string shown(std::chrono::duration<Rep, Period> value) {
  return fmt::to_string(value.count());
}
std::string shown(const std::string& value) {
  return value.empty() ? "none" : value;
}
std::string shown(const dhcp_range& value) {
  return to_string(value.first) + " to " + to_string(value.last);
}
std::string shown(const ipv4_address& value) {
  return to_string(value);
}
std::string shown(const ipv6_address& value) {
  return to_string(value);
}
std::string shown(const ipv4_subnet& value) {
  return to_string(value);
}
template <class Enum>
requires std::is_enum_v<Enum> std::string shown(Enum value) {
  return std::string{to_string(value)};
}
template <class Value>
std::string shown(const std::optional<Value>& value) {
  return value ? shown(*value) : "default";
}

// Gathers what differs.
class differences {
public:
  template <class Value>
  differences& look(const char* key, const Value& now, const Value& next) {
    if (!(now == next))
      found_.push_back(fmt::format("{} {} -> {}", key, shown(now), shown(next)));
    return *this;
  }
  // For values that are too long to be shown.
  template <class Value>
  differences& name(const char* key, const Value& now, const Value& next) {
    if (!(now == next))
      found_.emplace_back(key);
    return *this;
  }
  void add(std::string text) { found_.push_back(std::move(text)); }
  std::string text() const { return fmt::format("{}", fmt::join(found_, ", ")); }

private:
  std::vector<std::string> found_;
};

template <class Value>
std::size_t missing(const std::vector<Value>& of, const std::vector<Value>& in) {
  return static_cast<std::size_t>(std::ranges::count_if(
      of, [&](const auto& one) { return std::ranges::find(in, one) == in.end(); }));
}

} // namespace

std::string difference(const log_settings& now, const log_settings& next) {
  return differences{}
      .look("level", now.level, next.level)
      .look("format", now.format, next.format)
      .text();
}

std::string difference(const network_limits& now, const network_limits& next) {
  return differences{}
      .look("ports", now.ports, next.ports)
      .look("macs", now.macs, next.macs)
      .look("macs_per_port", now.macs_per_port, next.macs_per_port)
      .look("slabs", now.slab_budget, next.slab_budget)
      .look("egress_bursts", now.egress_bursts, next.egress_bursts)
      .look("egress_deadline_ms", now.egress_deadline, next.egress_deadline)
      .look("mac_ageing_s", now.mac_ageing, next.mac_ageing)
      .text();
}

std::string difference(const host_config& now, const host_config& next) {
  return differences{}
      .look("mode", now.mode, next.mode)
      .look("interface", now.interface, next.interface)
      .look("tap_fd", now.tap_fd, next.tap_fd)
      .look("bridge_helper", now.bridge_helper, next.bridge_helper)
      .look("subnet", now.subnet, next.subnet)
      .look("gateway", now.gateway, next.gateway)
      .look("mtu", now.mtu, next.mtu)
      .look("ipv6", now.ipv6, next.ipv6)
      .look("ipv6_prefix", now.ipv6_prefix, next.ipv6_prefix)
      .look("host_loopback", now.host_loopback, next.host_loopback)
      .look("domain of DNS", now.dns_domain, next.dns_domain)
      .text();
}

std::string difference(const dhcp_config& now, const dhcp_config& next) {
  differences found;
  found.look("enabled", now.enabled, next.enabled)
      .look("range", now.range, next.range)
      .look("lease_time", now.lease_time, next.lease_time)
      .look("lease_file", now.lease_file, next.lease_file)
      .look("domain", now.domain, next.domain)
      .name("search", now.search, next.search)
      .name("dns", now.dns, next.dns)
      .name("options", now.options, next.options);
  const auto added = missing(next.reservations, now.reservations);
  const auto removed = missing(now.reservations, next.reservations);
  if (added + removed > 0)
    found.add(fmt::format("reservations +{} -{}", added, removed));
  return found.text();
}

std::string difference(const dns_config& now, const dns_config& next) {
  differences found;
  found.look("enabled", now.enabled, next.enabled)
      .look("domain", now.domain, next.domain)
      .name("upstream", now.upstream, next.upstream)
      .look("cache_size", now.cache_size, next.cache_size);
  const auto added = missing(next.records, now.records);
  const auto removed = missing(now.records, next.records);
  if (added + removed > 0)
    found.add(fmt::format("records +{} -{}", added, removed));
  else if (now.records != next.records)
    found.add("the same records in another order");
  return found.text();
}

std::string difference(const listen_config& now, const listen_config& next) {
  differences found;
  found.look("group", now.group, next.group);
  if (now.mode != next.mode) {
    const auto octal = [](const std::optional<mode_t>& mode) {
      return mode ? socket_mode_text(*mode) : std::string{"default"};
    };
    found.add(fmt::format("mode {} -> {}", octal(now.mode), octal(next.mode)));
  }
  found.look("isolated", now.isolated, next.isolated);
  return found.text();
}

std::string description(const listen_config& listener) {
  return fmt::format("{} socket {}", listener.type == listen_type::stream ? "stream" : "datagram",
                     listener.path);
}

std::string description(const network_config& network) {
  std::string text = "mode " + std::string{to_string(network.host.mode)};
  for (const auto& listener : network.listeners)
    text += ", " + description(listener);
  return text;
}

} // namespace vmswitch
