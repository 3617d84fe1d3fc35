#include "vmnet/tap/network_watch.hpp"

#include <cstring>
#include <span>
#include <utility>

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "vmnet/tap/netlink_events.hpp"

namespace vmswitch {

namespace {

// Zeros for what is too short.
template <class Message>
Message read_as(std::span<const std::byte> body) {
  Message message{};
  if (body.size() >= sizeof message)
    std::memcpy(&message, body.data(), sizeof message);
  return message;
}

} // namespace

result<network_watch> network_watch::open(const std::string& device) {
  auto fd = open_netlink_events(NETLINK_ROUTE, RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE |
                                                   RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR);
  if (!fd)
    return tl::unexpected{std::move(fd.error())};
  return network_watch{std::move(*fd), ::if_nametoindex(device.c_str())};
}

network_watch::changes network_watch::look() {
  changes found;
  const bool complete =
      read_netlink_events(fd_.get(), [&](std::uint16_t type, std::span<const std::byte> body) {
        if (type == RTM_NEWROUTE || type == RTM_DELROUTE) {
          found.ways_out |= body.size() >= sizeof(rtmsg) && read_as<rtmsg>(body).rtm_dst_len == 0;
        } else if (type == RTM_NEWLINK || type == RTM_DELLINK) {
          // A device that is new has all flags changed; Wi-Fi tells of its scans with none.
          const auto link = read_as<ifinfomsg>(body);
          const bool counts = type == RTM_DELLINK || link.ifi_change != 0;
          found.ways_out |= counts;
          found.addresses |= counts && static_cast<unsigned>(link.ifi_index) == device_;
        } else if (type == RTM_DELADDR) {
          found.addresses |= read_as<ifaddrmsg>(body).ifa_index == device_;
        }
      });
  return complete ? found : changes{true, true};
}

} // namespace vmswitch
