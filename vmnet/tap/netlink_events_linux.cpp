#include "vmnet/tap/netlink_events.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <linux/netlink.h>
#include <sys/socket.h>

namespace vmswitch {

namespace {

constexpr int most_reads = 64; // a call; more than that counts as lost

} // namespace

result<owned_fd> open_netlink_events(int protocol, std::uint32_t groups) {
  owned_fd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol)};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return fail_errno("cannot watch the host's network", errno);
  return fd;
}

bool read_netlink_events(
    int fd, const std::function<void(std::uint16_t, std::span<const std::byte>)>& each) {
  alignas(nlmsghdr) std::array<std::byte, 16384> buffer;
  bool complete = true;
  for (int i = 0; i < most_reads; ++i) {
    // With this flag the size is that of the message, even if it does not fit.
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), MSG_TRUNC);
    if (got < 0 && (errno == ENOBUFS || errno == EINTR)) {
      complete = complete && errno == EINTR;
      continue;
    }
    if (got <= 0)
      return complete;
    const auto size = static_cast<std::size_t>(got);
    complete = complete && size <= buffer.size();
    auto messages = std::span<const std::byte>{buffer}.first(std::min(size, buffer.size()));
    nlmsghdr header{};
    while (messages.size() >= sizeof header) {
      std::memcpy(&header, messages.data(), sizeof header);
      if (header.nlmsg_len < sizeof header || header.nlmsg_len > messages.size())
        break;
      each(header.nlmsg_type, messages.first(header.nlmsg_len).subspan(NLMSG_HDRLEN));
      messages =
          messages.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), messages.size()));
    }
  }
  return false;
}

} // namespace vmswitch
