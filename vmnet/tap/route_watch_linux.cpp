#include "vmnet/tap/route_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace vmswitch {

namespace {

constexpr int most_reads = 64; // a call; more than that is a change in any case

bool has_default_route(std::span<const std::byte> messages) {
  while (messages.size() >= NLMSG_LENGTH(sizeof(rtmsg))) {
    nlmsghdr header{};
    std::memcpy(&header, messages.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > messages.size())
      return false;
    if (header.nlmsg_type == RTM_NEWROUTE || header.nlmsg_type == RTM_DELROUTE) {
      rtmsg route{};
      std::memcpy(&route, messages.data() + NLMSG_LENGTH(0), sizeof route);
      if (route.rtm_dst_len == 0)
        return true;
    }
    messages =
        messages.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), messages.size()));
  }
  return false;
}

} // namespace

result<route_watch> route_watch::open() {
  owned_fd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  sockaddr_nl groups{};
  groups.nl_family = AF_NETLINK;
  groups.nl_groups = RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&groups), sizeof groups) != 0)
    return fail_errno("cannot watch the host's routes", errno);
  return route_watch{std::move(fd)};
}

bool route_watch::changed() noexcept {
  alignas(nlmsghdr) std::array<std::byte, 8192> messages;
  bool found = false;
  for (int i = 0; i < most_reads; ++i) {
    const ssize_t got = ::recv(fd_.get(), messages.data(), messages.size(), 0);
    if (got < 0 && errno == ENOBUFS) {
      found = true;
      continue;
    }
    if (got <= 0)
      return found;
    found = found || has_default_route({messages.data(), static_cast<std::size_t>(got)});
  }
  return true;
}

} // namespace vmswitch
