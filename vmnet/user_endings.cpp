#include "vmnet/user_endings.hpp"

#include <utility>
#include <variant>

#include <sys/socket.h>

#include "vmnet/forward/socket_address.hpp"
#include "vmnet/user_addresses.hpp"

namespace vmswitch {

namespace {

packet_address packet_form(const ip_address& address) {
  return std::visit([](const auto& each) { return packet_address{each}; }, address);
}

// A client on this host is the gateway to the VM (sotranslate_accept in libslirp's socket.c).
packet_address as_seen_by_vm(const ip_address& client, const host_config& config) {
  if (!is_loopback(client) && !is_unspecified(client))
    return packet_form(client);
  if (is_ipv4(client))
    return packet_address{config.gateway};
  auto gateway = user_prefix_for(config);
  gateway.octets.back() = ipv6_gateway_number;
  return packet_address{gateway};
}

} // namespace

void user_endings::begin(int fd, std::uint64_t serial, std::span<const ip_address> vm,
                         std::uint16_t vm_port, time_point now) {
  const auto client = socket_address::of_peer(fd);
  ::shutdown(fd, SHUT_RDWR);
  const auto address = client.address();
  if (!address)
    return; // it has ended on that side, with an error that libslirp sees
  for (const auto& each : vm) {
    if (is_ipv4(each) != is_ipv4(*address))
      continue;
    const ip_path from_vm{user_mac_for(config_.gateway),
                          user_mac_for({0}),
                          as_seen_by_vm(*address, config_),
                          packet_form(each),
                          client.port(),
                          vm_port};
    waiting_.push_back({now + patience, {fd, serial, from_vm}});
  }
}

std::optional<user_endings::time_point> user_endings::due() const {
  return waiting_.empty() ? std::nullopt : std::optional{waiting_.front().due};
}

std::optional<user_endings::connection> user_endings::take_overdue(time_point now) {
  if (waiting_.empty() || waiting_.front().due > now)
    return std::nullopt;
  const auto taken = waiting_.front().which;
  waiting_.pop_front();
  return taken;
}

} // namespace vmswitch
