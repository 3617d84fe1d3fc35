#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include <sys/socket.h>

#include "tests/bench/contenders/models.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch::bench {

namespace {

constexpr std::size_t most_per_call = 64;
constexpr std::size_t frame_room = 2048;

// Sends them all; false when that is over.
bool send_all(int fd, mmsghdr* messages, std::size_t count) {
  while (count > 0) {
    const int sent = ::sendmmsg(fd, messages, static_cast<unsigned>(count), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    messages += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

} // namespace

void run_datagram_relay(owned_fd socket) {
  std::vector<std::byte> memory(most_per_call * frame_room);
  std::array<iovec, most_per_call> slots;
  std::array<sockaddr_un, most_per_call> from;
  std::array<mmsghdr, most_per_call> messages{};
  std::optional<unix_address> peers[2];
  while (true) {
    for (std::size_t i = 0; i < most_per_call; ++i) {
      slots[i] = {memory.data() + i * frame_room, frame_room};
      messages[i].msg_hdr = {&from[i], sizeof from[i], &slots[i], 1, nullptr, 0, 0};
    }
    const int got =
        ::recvmmsg(socket.get(), messages.data(), most_per_call, MSG_WAITFORONE, nullptr);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
      const auto& header = messages[i].msg_hdr;
      const auto name = unix_address::name_in(from[i], header.msg_namelen);
      std::size_t sender = 0;
      while (sender < 2 && peers[sender] && peers[sender]->name() != name)
        ++sender;
      if (sender == 2)
        continue; // a third one
      if (!peers[sender])
        peers[sender] = unix_address::from_kernel(from[i], header.msg_namelen);
      const auto& receiver = peers[1 - sender];
      if (!receiver)
        continue;
      slots[kept] = {slots[i].iov_base, messages[i].msg_len};
      messages[kept].msg_hdr = {const_cast<sockaddr*>(receiver->data()),
                                receiver->length(),
                                &slots[kept],
                                1,
                                nullptr,
                                0,
                                0};
      ++kept;
    }
    if (!send_all(socket.get(), messages.data(), kept))
      return;
  }
}

} // namespace vmswitch::bench
