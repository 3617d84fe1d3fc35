#include "actors/network/forward_desk.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/messages.hpp"

namespace vmswitch {

namespace {

constexpr std::chrono::seconds patience{3};

struct forward_desk_state {
  explicit forward_desk_state(caf::stateful_actor<forward_desk_state>* actor) : self{actor} {}

  caf::stateful_actor<forward_desk_state>* self;
  std::vector<watched_network> networks;
  std::unordered_map<std::uint64_t, std::function<void(result<void>)>> open;
  std::uint64_t last_tag = 0;

  static constexpr const char* name = "forward desk";

  void take(const forward_order& order);
  void answer(std::uint64_t tag, const result<void>& outcome);
  void close();
};

void forward_desk_state::take(const forward_order& order) {
  const auto to = std::ranges::find(networks, order.network, &watched_network::name);
  if (to == networks.end())
    return order.done(fail("there is no network " + order.network, ENXIO));
  const auto tag = ++last_tag;
  open.emplace(tag, order.done);
  const caf::actor me{self};
  if (const auto* rule = std::get_if<forward_rule>(&order.what))
    tell(to->network, forward_add{*rule, me, tag, order.by});
  else
    tell(to->network, forward_remove{std::get<forward_listen>(order.what), me, tag, order.by});
  tell_after(self, patience, forward_overdue{tag});
}

void forward_desk_state::answer(std::uint64_t tag, const result<void>& outcome) {
  if (auto order = open.extract(tag))
    order.mapped()(outcome);
}

void forward_desk_state::close() {
  for (const auto& [tag, done] : std::exchange(open, {}))
    done(fail("the daemon stops", ECANCELED));
  self->quit();
}

} // namespace

caf::actor spawn_forward_desk(caf::actor_system& system) {
  return system.spawn([](caf::stateful_actor<forward_desk_state>* self) -> caf::behavior {
    auto& state = state_of(self);
    return {
        [&state](const watch_networks& message) { state.networks = message.networks; },
        [&state](const forward_order& message) { state.take(message); },
        [&state](const forward_answer& message) {
          state.answer(message.tag, message.failure.empty() ? result<void>{}
                                                            : fail(message.failure, message.code));
        },
        [&state](const forward_overdue& message) {
          state.answer(
              message.tag,
              fail("the network did not answer in time: it may still do it, or stop", ETIMEDOUT));
        },
        [&state](const stop&) { state.close(); },
    };
  });
}

} // namespace vmswitch
