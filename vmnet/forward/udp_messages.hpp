#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <sys/types.h>

#include "vmnet/forward/socket_address.hpp"

namespace vmswitch {

/// An address of this host that a datagram came to, and the device; nothing if `family` is 0.
struct local_address {
  int family = 0;
  std::array<std::byte, 16> octets{};
  unsigned device = 0;
};

/// Has the socket tell that for every datagram. Without, answers of a socket that listens on all
/// addresses may come from another one than was asked.
void want_local_address(int socket) noexcept;

/// As recvfrom(2), without waiting. -1 and errno if there is none.
ssize_t receive_datagram(int socket, std::span<std::byte> into, socket_address& from,
                         local_address& at) noexcept;

/// As sendto(2), without waiting, from a certain address.
ssize_t send_datagram(int socket, std::span<const std::byte> data, const socket_address& to,
                      const local_address& from) noexcept;

} // namespace vmswitch
