#include "actors/network/network_forwards.hpp"

#include "vmnet/forward/forward_relay.hpp"

namespace vmswitch {

namespace {

std::shared_ptr<forward_carrier> make_relay() {
  return std::make_shared<forward_relay>();
}

} // namespace

forward_setup forwards_of(const network_config& config) {
  if (uses_tap(config.host.mode))
    return {config.host, config.dhcp, config.forwards, make_relay(), make_relay};
  return {config.host, config.dhcp, config.forwards, nullptr, nullptr};
}

} // namespace vmswitch
