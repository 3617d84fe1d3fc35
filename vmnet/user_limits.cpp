#include "vmnet/user_limits.hpp"

#include <algorithm>

namespace vmswitch {

namespace {

// Most sockets of a kind per network; libslirp has buffers of 256 KiB for a TCP connection.
constexpr std::size_t tcp_limit = 1024, udp_limit = 1024, icmp_limit = 128;
constexpr std::array<const char*, 4> names{"", "TCP connections", "UDP flows", "pings"};

} // namespace

user_limits::user_limits(std::size_t descriptors) {
  constexpr std::size_t all = tcp_limit + udp_limit + icmp_limit;
  const auto share = std::min(all, descriptors / 2);
  const auto scaled = [&](std::size_t limit) {
    return std::max<std::size_t>(4, limit * share / all);
  };
  limits_ = {0, scaled(tcp_limit), scaled(udp_limit), scaled(icmp_limit)};
}

std::optional<std::string> user_limits::refused(socket_kind kind, mac_address vm, count open,
                                                std::chrono::milliseconds now) {
  const auto at = static_cast<std::size_t>(kind);
  if (warned_[at] && now - *warned_[at] < quiet_time)
    return std::nullopt;
  warned_[at] = now;
  return "VM " + to_string(vm) + " has " + std::to_string(open.own) + " of the " +
         std::to_string(open.all) + " " + names[at] + " through the NAT, and may have no more of " +
         std::to_string(limits_[at]) +
         ": new ones are refused until some end; see what opens them in that guest";
}

} // namespace vmswitch
