// What a port is told while it is there: its alias and its flags. They end with it.

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "actors/network/network_state.hpp"

namespace vmswitch {

namespace {

// "name web, isolated, set down"; empty if nothing differs.
std::string difference(const port_brief& now, const port_brief& next) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (now.alias != next.alias)
    add(next.alias.empty() ? "no name any more" : "name " + next.alias);
  if (now.flags.isolated != next.flags.isolated)
    add(next.flags.isolated ? "isolated" : "not isolated");
  if (now.flags.down != next.flags.down)
    add(next.flags.down ? "set down" : "set up");
  return text;
}

} // namespace

std::optional<std::uint32_t> network_state::slot_named(const std::string& port) const {
  for (std::uint32_t index = 0; index < slots.size(); ++index)
    if (port_at(index) && slots[index].brief.name == port)
      return index;
  const auto named = aliases.find(port);
  return named == aliases.end() ? std::nullopt : std::optional{named->second};
}

// Through the port, so that it comes to the switch behind attach_port.
void network_state::set_flags(std::uint32_t index, std::shared_ptr<port_reply> reply) const {
  const auto& brief = slots[index].brief;
  tell(port_at(index), set_port_flags{brief.id, brief.flags, std::move(reply)});
}

// All of its ports, those too that somebody has set otherwise.
void network_state::isolate(listening& changed, bool isolated) {
  if (std::exchange(changed.config.isolated, isolated) == isolated)
    return;
  const auto origin = static_cast<std::uint32_t>(&changed - listeners.data());
  for (std::uint32_t index = 1; index < slots.size(); ++index)
    if (slots[index].port && slots[index].origin == origin) {
      slots[index].brief.flags.isolated = isolated;
      set_flags(index, nullptr);
    }
}

std::string network_state::alias_of(const std::string& port) const {
  const auto at = std::ranges::find_if(
      aliases, [&](const auto& each) { return slots[each.second].brief.name == port; });
  return at == aliases.end() ? std::string{} : at->first;
}

void network_state::on_change_port(const change_port& message) {
  const auto index = slot_named(message.port);
  if (!index) {
    message.reply->answer(
        {port_answer::what::no_port,
         fmt::format("network {} has no port {}: it may have gone", config.name, message.port)});
    return;
  }
  auto& brief = slots[*index].brief;
  auto next = brief;
  next.alias = message.change.alias.value_or(brief.alias);
  next.flags.isolated = message.change.isolated.value_or(brief.flags.isolated);
  next.flags.down = !message.change.up.value_or(!brief.flags.down);
  const auto taken = aliases.find(next.alias);
  if (taken != aliases.end() && taken->second != *index) {
    const auto& holder = slots[taken->second].brief.name;
    message.reply->answer(
        {port_answer::what::name_taken,
         fmt::format("port {} has the name {}: choose another, or take it from there first", holder,
                     next.alias)});
    return;
  }
  const auto what = difference(brief, next);
  aliases.erase(brief.alias);
  if (!next.alias.empty())
    aliases.emplace(next.alias, *index);
  brief = std::move(next);
  set_flags(*index, message.reply);
  if (what.empty())
    return;
  spdlog::info("network {}: port {}: {} (control socket, {})", config.name, brief.name, what,
               message.by);
  publish({"port_changed",
           {},
           brief.name,
           {},
           fmt::format("port {}: {} ({})", brief.name, what, message.by)});
}

} // namespace vmswitch
