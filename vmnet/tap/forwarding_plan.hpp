#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace vmswitch {

/// One setting under /proc/sys/net/FAMILY/conf/DEVICE/ that is changed, and what it was.
struct setting_change {
  std::string family; // "ipv4" or "ipv6"
  std::string device; // or "all"
  std::string key;    // "forwarding"
  std::string from;
  std::string to;
  friend bool operator==(const setting_change&, const setting_change&) = default;
};

/// What the plan depends on.
struct forwarding_state {
  std::string device;                // the network's own
  bool ipv6 = true;                  // IPv6 is to be forwarded too
  std::vector<std::string> uplinks4; // devices with an IPv4 default route
  std::vector<std::string> uplinks6; // ... an IPv6 one
  std::vector<std::string> devices;  // all but the network's own and the loopback
  /// The value of a setting, "" if there is none.
  std::function<std::string(std::string_view family, std::string_view device, std::string_view key)>
      read;
  /// Changes that other networks of ours have made and that are still wanted.
  std::vector<setting_change> others;
};

struct forwarding_plan {
  std::vector<setting_change> changes; // in order; taken back in reverse
  /// Devices that did not forward before, so that nothing else is to be forwarded from them.
  std::vector<std::string> closed4;
  std::vector<std::string> closed6;
  friend bool operator==(const forwarding_plan&, const forwarding_plan&) = default;
};

/// What has to change so that packets between the network and the world are forwarded, and no more.
///
/// The kernel asks the device on which a packet arrives, so that answers need it on the uplink,
/// too. IPv6 has such a switch for each device since Linux 6.17 (force_forwarding). Before, there
/// is only one for all of them, and a device that takes router advertisements stops doing so when
/// it is thrown, unless told to go on (accept_ra 2): without that the host would lose its own way
/// out.
///
/// A setting that another network of ours has changed is recorded here again, so that the last one
/// to go takes it back. Pure but for `read`.
forwarding_plan plan_forwarding(const forwarding_state& state);

} // namespace vmswitch
