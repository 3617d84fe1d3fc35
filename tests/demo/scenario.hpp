#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/error.hpp"

namespace vmswitch::demo {

struct options {
  std::string socket;
  /// The socket is one for datagrams, a frame each.
  bool datagrams = false;
  /// Ask for addresses by DHCP and ping the gateway. Without a host on the network the VMs take
  /// addresses of their own.
  bool gateway = true;
  std::chrono::seconds push{2};
};

struct vm_report {
  std::string name;
  std::string mac;
  std::string address;
  struct ping {
    std::string target;
    bool answered = false;
  };
  std::vector<ping> pings;
};

struct transfer_report {
  std::string from;
  std::string to;
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;
  std::uint64_t reordered = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t damaged = 0;
  double gbits_per_second = 0; // of frames, without prefixes
  /// The longest time for which the receivers did not get to read, though there was something: on
  /// a busy machine it exceeds what a switch waits for a receiver.
  std::chrono::milliseconds longest_pause{0};
};

struct report {
  std::vector<vm_report> vms; // the last one is the idle one
  transfer_report transfer;
  std::uint64_t flooded = 0; // unicast for others that the idle VM received
};

/// Plugs three VMs into the daemon, lets all ping each other and the gateway, then sends numbered
/// frames from the first to the second. An error means that it could not be carried out; whether
/// the network was any good is in the report.
result<report> run(const options& chosen);

/// What is wrong with the network, one sentence each. Empty when all is well.
std::vector<std::string> complaints(const report& seen);

} // namespace vmswitch::demo
