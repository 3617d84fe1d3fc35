#include "app/reload/reload_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/reload/reload_text.hpp"

namespace vmswitch {

namespace {

using what = reload_action::what;

constexpr auto at_start_only = "it is set up once, when the daemon starts";
constexpr auto descriptors_at_start =
    "a descriptor can be passed to the daemon only when it starts";
constexpr auto anew = "a network with a host interface is another one than one without; under "
                      "another name it can take the place of this one";
constexpr auto sized = "the connections of its VMs are made for frames of that size; under another "
                       "name the network can take the place of this one";

// As the reader of the file compares them.
std::string place(const listen_config& listener) {
  return std::filesystem::path{listener.path}.lexically_normal().string();
}

bool is_same_socket(const listen_config& a, const listen_config& b) {
  return a.type == b.type && place(a) == place(b);
}

network_config* find(daemon_settings& settings, const std::string& name) {
  const auto at = std::ranges::find(settings.networks, name, &network_config::name);
  return at == settings.networks.end() ? nullptr : &*at;
}
const network_config* find(const daemon_settings& settings, const std::string& name) {
  return find(const_cast<daemon_settings&>(settings), name);
}

auto find_socket(network_config& network, const listen_config& listener) {
  return std::ranges::find_if(
      network.listeners, [&](const listen_config& each) { return is_same_socket(each, listener); });
}

class planner {
public:
  planner(const daemon_settings& now, const daemon_settings& next) : now_{now}, next_{next} {}

  reload_plan make() {
    plan_daemon();
    for (const auto& network : now_.networks)
      if (find(next_, network.name) == nullptr)
        add(what::remove_network, network, "remove it; its VMs are disconnected");
    for (const auto& network : next_.networks)
      if (const auto* known = find(now_, network.name))
        plan_network(*known, network);
      else
        plan_new(network);
    std::ranges::stable_sort(plan_.actions, {}, &reload_action::kind);
    return std::move(plan_);
  }

private:
  void add(what kind, network_config network, const std::string& text, listen_config listener = {},
           forward_rule forward = {}) {
    auto line = fmt::format("network {}: {}", network.name, text);
    plan_.actions.push_back(
        {kind, std::move(line), {}, std::move(network), std::move(listener), std::move(forward)});
  }
  void hold(std::string text, std::string why) {
    plan_.held.push_back({std::move(text), std::move(why)});
  }

  void plan_daemon() {
    if (now_.log != next_.log)
      plan_.actions.push_back(
          {what::change_log, "log: " + difference(now_.log, next_.log), next_.log, {}, {}, {}});
    auto rest = next_;
    const auto keep = [&](const char* key, auto member) {
      const auto& mine = now_.*member;
      auto& theirs = rest.*member;
      if (mine == theirs)
        return;
      const auto shown = [](const auto& value) {
        return value ? fmt::format("{}", *value) : std::string{"default"};
      };
      hold(fmt::format("{} {} -> {}", key, shown(mine), shown(theirs)), at_start_only);
      theirs = mine;
    };
    keep("pidfile", &daemon_settings::pidfile);
    keep("workers", &daemon_settings::workers);
    keep("user", &daemon_settings::user);
    keep("group", &daemon_settings::group);
    rest.log = now_.log;
    rest.networks = now_.networks;
    rest.passed = now_.passed;               // nothing that a file could say
    rest.control.usual = now_.control.usual; // follows the user, whom we may have become since
    if (!(rest == now_))
      hold("control socket or dashboard", at_start_only);
  }

  void plan_new(const network_config& network) {
    if (network.host.tap_fd)
      hold(fmt::format("network {}: new, with tap_fd", network.name), descriptors_at_start);
    else
      add(what::add_network, network, "add it: " + description(network));
  }

  void plan_network(const network_config& now, const network_config& next) {
    auto wanted = next;
    plan_listeners(now, next);
    plan_forwards(now, next);
    plan_host(now, wanted);
    if (now.limits != next.limits)
      add(what::change_limits, wanted, "limits: " + difference(now.limits, next.limits));
    auto rest = wanted;
    rest.host = now.host;
    rest.dhcp = now.dhcp;
    rest.dns = now.dns;
    rest.forwards = now.forwards;
    rest.limits = now.limits;
    rest.listeners = now.listeners;
    if (!(rest == now))
      hold(fmt::format("network {}: other settings", now.name),
           "this version cannot change them while the network runs");
  }

  void plan_listeners(const network_config& now, const network_config& next) {
    auto left = now;
    for (const auto& listener : next.listeners) {
      const auto known = find_socket(left, listener);
      if (known == left.listeners.end()) {
        add(what::add_listener, next, "open the " + description(listener), listener);
        continue;
      }
      auto changed = *known;
      changed.isolated = listener.isolated;
      if (!known->inherited) { // else they are a service manager's
        changed.group = listener.group;
        changed.mode = listener.mode;
      }
      if (changed != *known)
        add(what::change_listener, next,
            fmt::format("{}: {}", description(*known), difference(*known, changed)), changed);
      left.listeners.erase(known);
    }
    for (const auto& listener : left.listeners)
      add(what::remove_listener, now,
          fmt::format("close the {}; its VMs are disconnected", description(listener)), listener);
  }

  // A forward that leads elsewhere than before is another one.
  void plan_forwards(const network_config& now, const network_config& next) {
    const auto is_in = [](const network_config& network, const forward_rule& rule) {
      return std::ranges::find(network.forwards, rule) != network.forwards.end();
    };
    for (const auto& rule : now.forwards)
      if (!is_in(next, rule))
        add(what::remove_forward, now, "end the forward " + to_string(rule), {}, rule);
    for (const auto& rule : next.forwards)
      if (!is_in(now, rule))
        add(what::add_forward, next, "begin the forward " + to_string(rule), {}, rule);
  }

  void plan_host(const network_config& now, network_config& wanted) {
    auto& host = wanted.host;
    if ((now.host.mode == host_mode::isolated) != (host.mode == host_mode::isolated)) {
      hold_host(now, host, anew);
      wanted.dhcp = now.dhcp;
      wanted.dns = now.dns;
    } else if (host.tap_fd && host.tap_fd != now.host.tap_fd) {
      hold_host(now, host, descriptors_at_start);
    } else if (host.mtu != now.host.mtu) {
      hold(fmt::format("network {}: mtu {} -> {}", now.name, now.host.mtu, host.mtu), sized);
      host.mtu = now.host.mtu;
    }
    const auto dhcp = difference(now.dhcp, wanted.dhcp);
    if (host != now.host)
      add(what::change_host, wanted,
          fmt::format("restart the host interface (connections through it end): {}{}{}",
                      difference(now.host, host), dhcp.empty() ? "" : "; DHCP: ", dhcp));
    else if (now.dhcp != wanted.dhcp || now.dns != wanted.dns)
      plan_services(now, wanted, describe_services(now, wanted, dhcp));
  }

  void hold_host(const network_config& now, host_config& host, const char* why) {
    hold(fmt::format("network {}: {}", now.name, difference(now.host, host)), why);
    host = now.host;
  }

  static std::string describe_services(const network_config& now, const network_config& wanted,
                                       const std::string& dhcp) {
    std::string text;
    if (now.dhcp != wanted.dhcp)
      text = "DHCP: " + (dhcp.empty() ? "the same in another order" : dhcp);
    if (now.dns != wanted.dns)
      text += std::string{text.empty() ? "" : "; "} + "DNS: " + difference(now.dns, wanted.dns);
    return text;
  }

  void plan_services(const network_config& now, const network_config& wanted,
                     const std::string& text) {
    if (serves_dhcp(now.host, now.dhcp) == serves_dhcp(wanted.host, wanted.dhcp) &&
        now.dhcp.lease_file == wanted.dhcp.lease_file &&
        serves_dns(now.host, now.dns) == serves_dns(wanted.host, wanted.dns))
      add(what::change_services, wanted, text);
    else
      add(what::change_host, wanted,
          "restart the host interface (connections through it end): " + text);
  }

  const daemon_settings& now_;
  const daemon_settings& next_;
  reload_plan plan_;
};

} // namespace

reload_plan plan_reload(const daemon_settings& now, const daemon_settings& next) {
  return planner{now, next}.make();
}

void apply(const reload_action& action, daemon_settings& settings) {
  if (action.kind == what::change_log) {
    settings.log = action.log;
    return;
  }
  if (action.kind == what::add_network) {
    settings.networks.push_back(action.network);
    return;
  }
  auto* network = find(settings, action.network.name);
  if (network == nullptr)
    return;
  switch (action.kind) {
  case what::remove_network:
    settings.networks.erase(settings.networks.begin() + (network - settings.networks.data()));
    break;
  case what::change_host:
    network->host = action.network.host;
    network->dhcp = action.network.dhcp;
    network->dns = action.network.dns;
    break;
  case what::change_services:
    network->dhcp = action.network.dhcp;
    network->dns = action.network.dns;
    break;
  case what::remove_forward:
    std::erase(network->forwards, action.forward);
    break;
  case what::add_forward:
    network->forwards.push_back(action.forward);
    break;
  case what::change_limits:
    network->limits = action.network.limits;
    break;
  case what::add_listener:
    network->listeners.push_back(action.listener);
    break;
  case what::remove_listener:
  case what::change_listener:
    if (const auto at = find_socket(*network, action.listener); at != network->listeners.end()) {
      if (action.kind == what::change_listener)
        *at = action.listener;
      else
        network->listeners.erase(at);
    }
    break;
  case what::change_log:
  case what::add_network:
    break;
  }
}

} // namespace vmswitch
