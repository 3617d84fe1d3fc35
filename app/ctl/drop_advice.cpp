#include "app/ctl/drop_advice.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace vmswitch {

std::string drop_advice(std::string_view reason) {
  using entry = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<entry, 15> all{{
      {"runt", "shorter than an Ethernet header: a fault in the guest"},
      {"oversize", "larger than the mtu allows: lower the guest's, or raise ours"},
      {"group_source", "a multicast source address: a fault in the guest"},
      {"same_port", "its target is where it came from: a bridge in the guest"},
      {"port_isolated", "both ports are isolated; port set --isolate off ends it"},
      {"port_down", "the port was set down; port set --up ends it"},
      {"unknown_port", "its port had just gone"},
      {"egress_expired", "the VM was too slow: egress_deadline_ms passed"},
      {"egress_stalled", "the VM takes nothing: it is paused, or hangs"},
      {"egress_full", "too many bursts wait for the VM: raise egress_bursts"},
      {"egress_refused", "the VM can never take a frame of this size: use one mtu"},
      {"ingress_exhausted", "no slab was free: raise slabs, or ports"},
      {"no_return_address", "the client's socket has no path: QEMU: local.path"},
      {"port_closed", "still queued when the VM went"},
      {"host_refused", "the host's side did not take it, or is down"},
  }};
  const auto found = std::ranges::find(all, reason, &entry::first);
  return std::string{found == all.end() ? std::string_view{} : found->second};
}

} // namespace vmswitch
