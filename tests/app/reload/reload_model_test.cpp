// The plan against a model: whatever two configurations are, doing what is planned leads from one
// to the other.

#include <array>
#include <set>

#include <doctest/doctest.h>

#include "tests/app/reload/plan_support.hpp"
#include "tests/support/seeded_random.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// Configurations out of few values, so that two of them have much in common.
class maker {
public:
  explicit maker(seeded_random& random) : random_{random} {}

  daemon_settings settings() {
    daemon_settings made;
    if (some())
      made.log.level = log_level::debug;
    if (some())
      made.workers = 1 + random_.below(2);
    paths_ = 0;
    for (const char* name : {"a", "b", "c", "d"})
      if (some())
        made.networks.push_back(network(name));
    return made;
  }

private:
  bool some() { return random_.below(2) == 0; }

  network_config network(const char* name) {
    network_config made;
    made.name = made.host.name = name;
    made.host.mode =
        std::array{host_mode::user, host_mode::isolated, host_mode::shared}[random_.below(3)];
    made.host.mtu = some() ? 1500 : 9000;
    made.host.host_loopback = some();
    if (made.host.mode == host_mode::shared && random_.below(4) == 0)
      made.host.tap_fd = 5;
    made.dhcp.enabled = random_.below(4) != 0;
    if (some())
      made.dhcp.lease_time = std::chrono::seconds{60};
    if (some())
      made.dhcp.reservations.push_back({mac_address::from_integer(1 + random_.below(2)), {}, "n"});
    if (some())
      made.limits.ports = 10;
    const auto count = 1 + random_.below(3);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto& listener = made.listeners.emplace_back();
      // A path belongs to one network, but to another one the next time.
      listener.path = "/run/" + std::to_string(paths_++);
      if (some())
        listener.type = listen_type::dgram;
      if (some())
        listener.group = "kvm";
      listener.isolated = some();
    }
    return made;
  }

  seeded_random& random_;
  int paths_ = 0;
};

// What may not change stays as it is.
daemon_settings expected(const daemon_settings& now, daemon_settings next) {
  next.workers = now.workers;
  std::vector<network_config> networks;
  for (auto& network : next.networks) {
    const auto at = std::ranges::find(now.networks, network.name, &network_config::name);
    if (at == now.networks.end()) {
      if (network.host.tap_fd)
        continue;
    } else if ((at->host.mode == host_mode::isolated) !=
               (network.host.mode == host_mode::isolated)) {
      network.host = at->host;
      network.dhcp = at->dhcp;
    } else if (network.host.tap_fd && network.host.tap_fd != at->host.tap_fd) {
      network.host = at->host;
    } else {
      network.host.mtu = at->host.mtu;
    }
    networks.push_back(network);
  }
  next.networks = networks;
  return next;
}

// A socket is never opened before the one at its path has been closed, and the like.
void check_order(const reload_plan& plan, const daemon_settings& now) {
  std::set<std::string> names, paths;
  for (const auto& network : now.networks) {
    names.insert(network.name);
    for (const auto& listener : network.listeners)
      paths.insert(listener.path);
  }
  for (const auto& action : plan.actions) {
    CAPTURE(action.text);
    switch (action.kind) {
    case action_kind::remove_network:
      CHECK(names.erase(action.network.name) == 1);
      for (const auto& listener : action.network.listeners)
        CHECK(paths.erase(listener.path) == 1);
      break;
    case action_kind::add_network:
      CHECK(names.insert(action.network.name).second);
      for (const auto& listener : action.network.listeners)
        CHECK(paths.insert(listener.path).second);
      break;
    case action_kind::remove_listener:
      CHECK(paths.erase(action.listener.path) == 1);
      break;
    case action_kind::add_listener:
      CHECK(paths.insert(action.listener.path).second);
      break;
    case action_kind::change_listener:
      CHECK(paths.contains(action.listener.path));
      break;
    default:
      break;
    }
    if (action.kind != action_kind::change_log && action.kind != action_kind::remove_network)
      CHECK(names.contains(action.network.name));
  }
}

} // namespace

TEST_CASE("doing the plan leads from one configuration to the other, in a sound order") {
  seeded_random random;
  CAPTURE(random.seed());
  maker make{random};
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    const auto now = make.settings(), next = make.settings();
    const auto plan = plan_reload(now, next);
    INFO(texts_of(plan));
    check_order(plan, now);
    const auto done = applied(plan, now);
    const auto wanted = expected(now, next);
    CHECK(ordered(done) == ordered(wanted));
    CHECK(plan_reload(done, wanted).actions.empty());
    CHECK(plan_reload(done, wanted).held.empty());
    CHECK(plan_reload(done, next).actions.empty()); // what is held stays held
    if (plan.actions.empty() && plan.held.empty())
      CHECK(ordered(now) == ordered(next));
  }
}
