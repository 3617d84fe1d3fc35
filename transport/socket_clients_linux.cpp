#include <array>
#include <cstring>
#include <string_view>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "transport/owned_fd.hpp"
#include "transport/socket_users.hpp"

namespace vmswitch {

namespace {

struct diag_request {
  nlmsghdr header{};
  unix_diag_req what{};
};

// The sockets that have connected to one: how many, and whether the last had the name.
struct clients {
  std::uint32_t server;
  std::string_view wanted;
  unsigned count = 0;
  bool named = false;

  void look_at(const nlmsghdr* message) {
    const auto* socket = static_cast<const unix_diag_msg*>(NLMSG_DATA(message));
    auto left = static_cast<int>(NLMSG_PAYLOAD(message, sizeof *socket));
    std::string_view name;
    std::uint32_t peer = 0;
    for (auto* each = reinterpret_cast<rtattr*>(const_cast<unix_diag_msg*>(socket) + 1);
         RTA_OK(each, left); each = RTA_NEXT(each, left)) {
      if (each->rta_type == UNIX_DIAG_NAME)
        name = {static_cast<const char*>(RTA_DATA(each)), RTA_PAYLOAD(each)};
      else if (each->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(each) >= sizeof peer)
        std::memcpy(&peer, RTA_DATA(each), sizeof peer);
    }
    if (peer != server)
      return;
    if (!name.empty() && name.front() != '\0' && name.back() == '\0')
      name.remove_suffix(1);
    ++count;
    named = name == wanted;
  }
};

// Calls `visit` with each answer; false if not all of them came.
template <class Visit>
bool for_each_answer(int netlink, Visit&& visit) {
  alignas(nlmsghdr) std::array<char, 32 * 1024> buffer;
  for (;;) {
    const ssize_t got = ::recv(netlink, buffer.data(), buffer.size(), 0);
    if (got <= 0)
      return false;
    auto left = static_cast<unsigned>(got);
    for (auto* each = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(each, left);
         each = NLMSG_NEXT(each, left)) {
      if (each->nlmsg_type == NLMSG_DONE)
        return true;
      if (each->nlmsg_type == NLMSG_ERROR)
        return false;
      visit(each);
    }
  }
}

} // namespace

bool is_only_client(int fd, const unix_address& client) {
  struct stat self {};
  const owned_fd netlink{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
  if (!netlink || ::fstat(fd, &self) != 0)
    return false;
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  diag_request request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.what.sdiag_family = AF_UNIX;
  request.what.udiag_states = ~0U;
  request.what.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER;
  if (::send(netlink.get(), &request, sizeof request, 0) != sizeof request)
    return false;
  clients found{static_cast<std::uint32_t>(self.st_ino), client.name()};
  return for_each_answer(netlink.get(), [&](const nlmsghdr* each) { found.look_at(each); }) &&
         found.count == 1 && found.named;
}

} // namespace vmswitch
