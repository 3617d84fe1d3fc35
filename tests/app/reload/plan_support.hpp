#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "app/reload/reload_plan.hpp"
#include "tests/app/config_support.hpp"

namespace vmswitch::test {

using action_kind = reload_action::what;

inline std::vector<action_kind> kinds_of(const reload_plan& plan) {
  std::vector<action_kind> kinds;
  for (const auto& action : plan.actions)
    kinds.push_back(action.kind);
  return kinds;
}

inline std::vector<std::string> texts_of(const reload_plan& plan) {
  std::vector<std::string> texts;
  for (const auto& action : plan.actions)
    texts.push_back(action.text);
  return texts;
}

inline std::vector<std::string> held_in(const reload_plan& plan) {
  std::vector<std::string> texts;
  for (const auto& each : plan.held)
    texts.push_back(each.text);
  return texts;
}

/// In the one order, and spelling, that tells settings apart which differ.
inline daemon_settings ordered(daemon_settings settings) {
  std::ranges::sort(settings.networks, {}, &network_config::name);
  for (auto& network : settings.networks) {
    for (auto& listener : network.listeners)
      listener.path = std::filesystem::path{listener.path}.lexically_normal().string();
    std::ranges::sort(network.listeners, {}, &listen_config::path);
  }
  return settings;
}

inline daemon_settings applied(const reload_plan& plan, daemon_settings settings) {
  for (const auto& action : plan.actions)
    apply(action, settings);
  return settings;
}

} // namespace vmswitch::test
