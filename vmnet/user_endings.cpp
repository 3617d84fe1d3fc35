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

packet_address ipv6_gateway(const host_config& config) {
  auto address = user_prefix_for(config);
  address.octets.back() = ipv6_gateway_number;
  return packet_address{address};
}

} // namespace

user_endings::user_endings(const host_config& config)
    : gateway_mac_{user_mac_for(config.gateway)}, gateway_{config.gateway},
      ipv6_gateway_{ipv6_gateway(config)} {}

// A client on this host is the gateway to the VM (sotranslate_accept in libslirp's socket.c).
packet_address user_endings::as_seen_by_vm(const ip_address& client) const {
  if (!is_loopback(client) && !is_unspecified(client))
    return packet_form(client);
  return is_ipv4(client) ? gateway_ : ipv6_gateway_;
}

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
    const ip_path from_vm{gateway_mac_,      user_mac_for({0}), as_seen_by_vm(*address),
                          packet_form(each), client.port(),     vm_port};
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
