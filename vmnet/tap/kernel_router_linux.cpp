#include "vmnet/tap/kernel_router.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "vmnet/tap/device_control.hpp"
#include "vmnet/tap/nat_rules.hpp"
#include "vmnet/tap/nftables.hpp"

namespace vmswitch {

namespace {

// The tables of all networks on this machine, this daemon's and others'.
std::vector<std::string> devices_with_tables() {
  const auto listed = run_nft(list_tables());
  return listed ? devices_in(*listed) : std::vector<std::string>{};
}

std::vector<setting_change> changes_of(const std::string& device) {
  const auto listed = run_nft(list_table(device));
  return listed ? changes_in(*listed) : std::vector<setting_change>{};
}

// What networks that are alive, other than `own`, have changed.
std::vector<setting_change> changes_of_others(const std::string& own) {
  std::vector<setting_change> all;
  for (const auto& device : devices_with_tables())
    if (device != own && device_exists(device))
      std::ranges::move(changes_of(device), std::back_inserter(all));
  return all;
}

void take_back(std::vector<setting_change> changes, const std::vector<setting_change>& still) {
  for (const auto& change : restoring_order(std::move(changes)))
    if (std::ranges::find(still, change) == still.end())
      static_cast<void>(write_setting(change.family, change.device, change.key, change.from));
}

// As before us: so it is, or is again since the device came back. What somebody else has made of it
// meanwhile is theirs.
bool is_undone(const setting_change& change) {
  return change.from != change.to &&
         read_setting(change.family, change.device, change.key) == change.from;
}

// Devices with a default route: /proc/net/route has the destination second, /proc/net/ipv6_route
// first with its length, and the device last.
std::vector<std::string> uplinks(bool ipv6, const std::string& own) {
  std::ifstream table{ipv6 ? "/proc/net/ipv6_route" : "/proc/net/route"};
  std::set<std::string> found;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words{line};
    const std::vector<std::string> columns{std::istream_iterator<std::string>{words}, {}};
    if (columns.size() < 8)
      continue;
    const bool is_default = ipv6 ? columns[0] == std::string(32, '0') && columns[1] == "00"
                                 : columns[1] == "00000000" && columns[7] == "00000000";
    const auto& device = ipv6 ? columns.back() : columns.front();
    if (is_default && device != "lo" && device != own)
      found.insert(device);
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> devices_with_ipv6(const std::string& own) {
  std::vector<std::string> found;
  std::error_code failure; // devices come and go meanwhile
  for (std::filesystem::directory_iterator each{"/proc/sys/net/ipv6/conf", failure}, end;
       !failure && each != end; each.increment(failure)) {
    auto name = each->path().filename().string();
    if (name != "all" && name != "default" && name != "lo" && name != own)
      found.push_back(std::move(name));
  }
  std::ranges::sort(found);
  return found;
}

} // namespace

std::vector<setting_change> restoring_order(std::vector<setting_change> changes) {
  std::ranges::reverse(changes);
  // The switch for all devices resets those of each.
  std::stable_partition(changes.begin(), changes.end(),
                        [](const setting_change& one) { return one.device == "all"; });
  return changes;
}

void remove_leftovers(const std::string& own) {
  for (const auto& device : devices_with_tables()) {
    if (device != own && device_exists(device))
      continue;
    take_back(changes_of(device), changes_of_others(device));
    static_cast<void>(run_nft(without_nat_rules(device)));
  }
}

void restore_device(const std::string& device) {
  if (!has_net_admin() || std::ranges::count(devices_with_tables(), device) == 0)
    return;
  const auto listed = run_nft(list_table(device));
  if (!listed)
    return;
  auto steps = undo_in(*listed);
  std::ranges::reverse(steps);
  for (const auto& step : steps)
    static_cast<void>(apply_step(device, step));
}

result<void> kernel_router::start(const host_config& config, const std::string& device,
                                  std::vector<device_step> undo) {
  stop();
  if (!has_net_admin()) // libnftables would write to stderr
    return fail("cannot make rules of nftables", EPERM);
  remove_leftovers(device);
  device_ = device;
  undo_ = std::move(undo);
  auto loaded = load(config, make_plan(config));
  if (!loaded)
    stop();
  return loaded;
}

forwarding_plan kernel_router::make_plan(const host_config& config) const {
  if (config.mode != host_mode::shared)
    return {};
  forwarding_state state;
  state.device = device_;
  state.ipv6 = gateway6_for(config).has_value() && look_at_device(device_).has_ipv6;
  state.uplinks4 = uplinks(false, device_);
  state.uplinks6 = uplinks(true, device_);
  state.devices = devices_with_ipv6(device_);
  state.read = read_setting;
  state.others = changes_of_others(device_);
  state.others.insert(state.others.end(), plan_.changes.begin(),
                      plan_.changes.end()); // ours until now
  return plan_forwarding(state);
}

result<void> kernel_router::load(const host_config& config, const forwarding_plan& plan) {
  // The rules first: they remember the changes, should we be killed on the way, and nothing is
  // forwarded unwatched.
  if (auto loaded = run_nft(nat_rules(config, device_, plan, undo_)); !loaded)
    return tl::unexpected{std::move(loaded.error())};
  rules_ = count_rules();
  auto still = changes_of_others(device_);
  still.insert(still.end(), plan.changes.begin(), plan.changes.end());
  take_back(std::exchange(plan_, plan).changes, still);
  for (const auto& change : plan_.changes)
    if (is_undone(change))
      if (auto written = write_setting(change.family, change.device, change.key, change.to);
          !written && written.error().code != ENOENT) // that device has just gone
        return written;
  return {};
}

std::size_t kernel_router::count_rules() const {
  const auto listed = run_nft(list_table(device_));
  return listed ? rules_in(*listed) : 0;
}

result<void> kernel_router::follow_routes(const host_config& config) {
  if (device_.empty())
    return {};
  const auto plan = make_plan(config);
  return plan == plan_ && std::ranges::none_of(plan.changes, is_undone) ? result<void>{}
                                                                        : load(config, plan);
}

result<bool> kernel_router::restore_rules(const host_config& config) {
  if (device_.empty() || count_rules() >= rules_)
    return false;
  return load(config, make_plan(config)).map([] { return true; });
}

void kernel_router::stop() noexcept {
  if (device_.empty())
    return;
  take_back(std::move(plan_.changes), changes_of_others(device_));
  static_cast<void>(run_nft(without_nat_rules(device_)));
  device_.clear();
  plan_ = {};
}

} // namespace vmswitch
