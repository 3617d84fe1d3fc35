#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "vmnet/dns/dns_endpoint.hpp"

struct ares_channeldata;

namespace vmswitch {

/// The sockets of a c-ares channel: made by us, because its addresses have no place for the scope
/// that a link-local server needs ("fe80::1%eth0"), which is put in when a socket connects.
class ares_scopes {
public:
  ares_scopes() = default;
  explicit ares_scopes(const std::vector<dns_endpoint>& servers);

  /// Must outlive the channel, at this address.
  void apply_to(ares_channeldata* channel);
  /// 0: none.
  std::uint32_t scope_of(const std::array<std::uint8_t, 16>& address) const;

private:
  std::map<std::array<std::uint8_t, 16>, std::uint32_t> scopes_;
};

} // namespace vmswitch
