#include "vmnet/forward/udp_messages.hpp"

#include <cstring>

#include <netinet/in.h>

namespace vmswitch {

namespace {

struct control_space {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(in6_pktinfo))> bytes{};
};

template <class Info>
void put(msghdr& message, int level, int type, const Info& info) {
  message.msg_controllen = CMSG_SPACE(sizeof info);
  auto* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = level;
  header->cmsg_type = type;
  header->cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(header), &info, sizeof info);
}

} // namespace

void want_local_address(int socket) noexcept {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
}

ssize_t receive_datagram(int socket, std::span<std::byte> into, socket_address& from,
                         local_address& at) noexcept {
  iovec data{into.data(), into.size()};
  control_space control;
  msghdr message{};
  message.msg_name = &from.storage;
  message.msg_namelen = sizeof from.storage;
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const auto got = ::recvmsg(socket, &message, MSG_DONTWAIT);
  if (got < 0)
    return got;
  from.size = message.msg_namelen;
  at = {};
  for (auto* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
      in_pktinfo info;
      std::memcpy(&info, CMSG_DATA(header), sizeof info);
      at.family = AF_INET;
      std::memcpy(at.octets.data(), &info.ipi_spec_dst, sizeof info.ipi_spec_dst);
    } else if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info;
      std::memcpy(&info, CMSG_DATA(header), sizeof info);
      at.family = AF_INET6;
      std::memcpy(at.octets.data(), &info.ipi6_addr, sizeof info.ipi6_addr);
      if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
        at.device = info.ipi6_ifindex;
    }
  }
  return got;
}

ssize_t send_datagram(int socket, std::span<const std::byte> data, const socket_address& to,
                      const local_address& from) noexcept {
  // The calls want what they only read as if they wrote.
  iovec piece{const_cast<std::byte*>(data.data()), data.size()};
  socket_address receiver = to;
  control_space control;
  msghdr message{};
  message.msg_name = receiver.get();
  message.msg_namelen = receiver.size;
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (from.family != 0)
    message.msg_control = control.bytes.data();
  if (from.family == AF_INET) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, from.octets.data(), sizeof info.ipi_spec_dst);
    put(message, IPPROTO_IP, IP_PKTINFO, info);
  } else if (from.family == AF_INET6) {
    in6_pktinfo info{};
    std::memcpy(&info.ipi6_addr, from.octets.data(), sizeof info.ipi6_addr);
    info.ipi6_ifindex = from.device;
    put(message, IPPROTO_IPV6, IPV6_PKTINFO, info);
  }
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

} // namespace vmswitch
