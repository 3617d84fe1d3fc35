#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "transport/unix_address.hpp"

namespace vmswitch {

/// Many datagrams by one system call, where the system has one (datagram_io_<system>.cpp). Never
/// waits. Failure is -1 and errno.

/// The most datagrams of one call.
inline constexpr std::size_t datagram_io_batch = 64;

/// One received datagram.
struct datagram_slot {
  sockaddr_un from;
  socklen_t from_length;
  std::uint32_t size;          ///< of the datagram, also where it is `truncated` (Linux)
  bool truncated;              ///< it was longer than its space
  std::optional<uid_t> sender; ///< its user, if asked for and known
};

/// Whether senders are asked for. Only of a socket that tells them (identify_senders): another one
/// could give us descriptors in their place.
enum class ask_sender : bool { no, yes };

/// Receives the i-th datagram at `first + i * stride`, `room` bytes of it; at most slots.size() and
/// datagram_io_batch. Returns how many there were.
int receive_datagrams(int fd, std::byte* first, std::size_t stride, std::size_t room,
                      std::span<datagram_slot> slots, ask_sender ask) noexcept;

/// Sends each of `datagrams` (at most datagram_io_batch) as a datagram, to whom `fd` is connected
/// if `to` is null. Returns how many from the front were sent; an error is reported only if that is
/// none.
int send_datagrams(int fd, const unix_address* to, std::span<const iovec> datagrams) noexcept;

} // namespace vmswitch
