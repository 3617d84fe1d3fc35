#pragma once

#include <cstdint>
#include <optional>

#include <sys/socket.h>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"
#include "vmnet/forward/forward_rule.hpp"

namespace vmswitch {

/// An address and a port as the system wants them.
struct socket_address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  socket_address() = default;
  socket_address(const ip_address& address, std::uint16_t port);
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
  /// Where this socket is bound, or its peer; a size of 0 if that cannot be told.
  static socket_address of(int socket) noexcept;
  static socket_address of_peer(int socket) noexcept;
  /// Nothing if there is none.
  std::optional<ip_address> address() const noexcept;
  std::uint16_t port() const noexcept;
  friend bool operator==(const socket_address& a, const socket_address& b) noexcept;
};

/// Whether a socket is bound to that place; where that is all addresses, to any of them.
bool is_bound_to(int socket, const forward_listen& place) noexcept;

/// A socket that is bound to the place and does not block. It does not listen yet. One for UDP on
/// all addresses tells where datagrams have come to (want_local_address). One for TCP shares its
/// place with others of the same user that do not listen either. The error is cannot_listen().
result<owned_fd> bind_forward(const forward_listen& listen);

/// Why a forward cannot listen, and what to do about it, from the system's errno.
tl::unexpected<error> cannot_listen(const forward_listen& listen, int code);

} // namespace vmswitch
