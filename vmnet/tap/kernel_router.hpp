#pragma once

#include <string>
#include <vector>

#include "transport/error.hpp"
#include "vmnet/host_config.hpp"
#include "vmnet/tap/device_plan.hpp"
#include "vmnet/tap/forwarding_plan.hpp"

namespace vmswitch {

/// The kernel as the router of a network: rules in nftables, and forwarding switched on where it
/// has to be. Made by start(), taken back by stop(), or by the next start of any network if the
/// daemon was killed; see nat_rules.hpp.
class kernel_router {
public:
  kernel_router() = default;
  kernel_router(const kernel_router&) = delete;
  kernel_router& operator=(const kernel_router&) = delete;
  ~kernel_router() { stop(); }

  /// For a network in mode `shared`, or `host`, which has a fence only. On failure nothing is left.
  /// `undo` is what was done to the device if it is someone's; see restore_device().
  result<void> start(const host_config& config, const std::string& device,
                     std::vector<device_step> undo);
  /// After the host's default routes or devices have changed: forwards to where they lead now.
  result<void> follow_routes(const host_config& config);
  /// After somebody has changed the rules: makes them anew if some are missing. True if so.
  result<bool> restore_rules(const host_config& config);
  /// Idempotent.
  void stop() noexcept;

private:
  forwarding_plan make_plan(const host_config& config) const;
  result<void> load(const host_config& config, const forwarding_plan& plan);

  std::size_t count_rules() const;

  std::string device_;   // empty: not started
  forwarding_plan plan_; // in force
  std::size_t rules_ = 0;
  std::vector<device_step> undo_; // remembered only
};

/// Takes back what networks left whose daemon was killed: those with rules and without a device,
/// and `own`, whose device has just been made. Errors are left to those who come next.
void remove_leftovers(const std::string& own);

/// Takes back what a daemon that was killed did to someone's device, which nobody else uses now.
void restore_device(const std::string& device);

/// The order in which changes are taken back.
std::vector<setting_change> restoring_order(std::vector<setting_change> changes);

} // namespace vmswitch
