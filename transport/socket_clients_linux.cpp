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

// What the system tells of a socket. The name is as in unix_address.
struct description {
  std::uint8_t type = 0;
  std::string_view name;
  std::uint32_t peer = 0;
  std::optional<uid_t> owner;
};

description read(const nlmsghdr* message) {
  const auto* socket = static_cast<const unix_diag_msg*>(NLMSG_DATA(message));
  auto left = static_cast<int>(NLMSG_PAYLOAD(message, sizeof *socket));
  description told;
  told.type = socket->udiag_type;
  for (auto* each = reinterpret_cast<rtattr*>(const_cast<unix_diag_msg*>(socket) + 1);
       RTA_OK(each, left); each = RTA_NEXT(each, left)) {
    if (each->rta_type == UNIX_DIAG_NAME)
      told.name = {static_cast<const char*>(RTA_DATA(each)), RTA_PAYLOAD(each)};
    else if (each->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(each) >= sizeof told.peer)
      std::memcpy(&told.peer, RTA_DATA(each), sizeof told.peer);
    else if (each->rta_type == UNIX_DIAG_UID && RTA_PAYLOAD(each) >= sizeof(uid_t))
      std::memcpy(&told.owner.emplace(), RTA_DATA(each), sizeof(uid_t));
  }
  if (!told.name.empty() && told.name.front() != '\0' && told.name.back() == '\0')
    told.name.remove_suffix(1);
  return told;
}

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

// Calls `visit` with what the system tells of each Unix socket that this process can see; false if
// it does not tell all.
template <class Visit>
bool for_each_socket(std::uint32_t show, Visit&& visit) {
  const owned_fd netlink{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
  if (!netlink)
    return false;
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  diag_request request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.what.sdiag_family = AF_UNIX;
  request.what.udiag_states = ~0U;
  request.what.udiag_show = show;
  return ::send(netlink.get(), &request, sizeof request, 0) == sizeof request &&
         for_each_answer(netlink.get(), [&](const nlmsghdr* each) { visit(read(each)); });
}

} // namespace

bool is_only_client(int fd, const unix_address& client) {
  struct stat self {};
  if (::fstat(fd, &self) != 0)
    return false;
  unsigned clients = 0;
  bool named = false;
  const bool all = for_each_socket(UDIAG_SHOW_NAME | UDIAG_SHOW_PEER, [&](const description& each) {
    if (each.peer != static_cast<std::uint32_t>(self.st_ino))
      return;
    ++clients;
    named = each.name == client.name();
  });
  return all && clients == 1 && named;
}

std::optional<uid_t> socket_owner(const unix_address& abstract) {
  std::optional<uid_t> owner;
  const bool all = for_each_socket(UDIAG_SHOW_NAME | UDIAG_SHOW_UID, [&](const description& each) {
    if (each.type == SOCK_DGRAM && each.name == abstract.name())
      owner = each.owner;
  });
  return all ? owner : std::nullopt;
}

} // namespace vmswitch
