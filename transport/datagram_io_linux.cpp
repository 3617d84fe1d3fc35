#include "transport/datagram_io.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace vmswitch {

namespace {

// Room for the sender, and for nothing else that may come along, such as descriptors.
struct sender_space {
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(ucred))> bytes;
};

std::optional<uid_t> sender_in(const msghdr& message) noexcept {
  const cmsghdr* told = CMSG_FIRSTHDR(&message);
  if (!told || told->cmsg_level != SOL_SOCKET || told->cmsg_type != SCM_CREDENTIALS ||
      told->cmsg_len < CMSG_LEN(sizeof(ucred)))
    return std::nullopt;
  ucred sender;
  std::memcpy(&sender, CMSG_DATA(told), sizeof sender);
  return sender.uid;
}

} // namespace

int receive_datagrams(int fd, std::byte* first, std::size_t stride, std::size_t room,
                      std::span<datagram_slot> slots, ask_sender ask) noexcept {
  const std::size_t count = std::min(slots.size(), datagram_io_batch);
  std::array<mmsghdr, datagram_io_batch> messages;
  std::array<iovec, datagram_io_batch> spaces;
  std::array<sender_space, datagram_io_batch> senders;
  for (std::size_t i = 0; i < count; ++i) {
    spaces[i] = {first + i * stride, room};
    messages[i] = {};
    messages[i].msg_hdr.msg_name = &slots[i].from;
    messages[i].msg_hdr.msg_namelen = sizeof slots[i].from;
    messages[i].msg_hdr.msg_iov = &spaces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
    if (ask == ask_sender::yes) {
      messages[i].msg_hdr.msg_control = senders[i].bytes.data();
      messages[i].msg_hdr.msg_controllen = senders[i].bytes.size();
    }
  }
  const int received = ::recvmmsg(fd, messages.data(), static_cast<unsigned>(count),
                                  MSG_DONTWAIT | MSG_TRUNC, nullptr);
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(received, 0)); ++i) {
    slots[i].from_length = messages[i].msg_hdr.msg_namelen;
    slots[i].size = messages[i].msg_len;
    slots[i].truncated = (messages[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
    slots[i].sender = sender_in(messages[i].msg_hdr);
  }
  return received;
}

int send_datagrams(int fd, const unix_address* to, std::span<const iovec> datagrams) noexcept {
  const std::size_t count = std::min(datagrams.size(), datagram_io_batch);
  std::array<mmsghdr, datagram_io_batch> messages;
  for (std::size_t i = 0; i < count; ++i) {
    messages[i] = {};
    if (to) {
      messages[i].msg_hdr.msg_name = const_cast<sockaddr*>(to->data());
      messages[i].msg_hdr.msg_namelen = to->length();
    }
    messages[i].msg_hdr.msg_iov = const_cast<iovec*>(&datagrams[i]);
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  return ::sendmmsg(fd, messages.data(), static_cast<unsigned>(count), MSG_DONTWAIT | MSG_NOSIGNAL);
}

} // namespace vmswitch
