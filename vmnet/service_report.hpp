#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/frame/mac_address.hpp"
#include "vmnet/forward/forward_rule.hpp"
#include "vmnet/ipv4.hpp"

namespace vmswitch {

/// An address that is lent, or kept from being lent.
struct lease_info {
  ipv4_address address;
  mac_address client;
  enum class state : std::uint8_t { offered, bound, ended, declined, in_use } is = state::ended;
  std::chrono::seconds left{0}; // until it ends; 0 if it has
  std::string name;             // what the VM calls itself, or is called; may be empty
};

/// A record that a network's DNS answers by itself.
struct dns_entry {
  std::string name;
  std::string type;
  std::string value;
  const char* origin; // "gateway", "configuration", "reservation" or "lease"
};

/// What the services of a network's host interface know.
struct service_report {
  bool dhcp = false; // whether there is a DHCP server
  std::vector<lease_info> leases;
  std::vector<forward_status> forwards{};
  std::vector<dns_entry> names{}; // in no order; if asked for
};

} // namespace vmswitch
