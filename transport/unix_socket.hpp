#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <sys/types.h>
#include <sys/uio.h>

#include "transport/owned_fd.hpp"
#include "transport/peer_identity.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

/// The few calls on Unix sockets that differ between systems (unix_socket_<system>.cpp). They
/// report failure as the system does: -1 or an empty owner, and errno.

enum class blocking : bool { no, yes };

/// A new socket of `type` (SOCK_STREAM or SOCK_DGRAM), closed on exec.
owned_fd open_unix_socket(int type, blocking mode) noexcept;

/// accept(); the connection is non-blocking and closed on exec.
owned_fd accept_unix_socket(int listener) noexcept;

/// Makes a descriptor that came from elsewhere non-blocking and closed on exec.
int adopt_unix_socket(int fd) noexcept;

/// bind() such that the socket file never has, not even for a moment, more permissions than 0600.
int bind_unix_socket(int fd, const unix_address& address) noexcept;

/// Whether receive_datagrams() is to tell who has sent what comes to `fd` from now on.
int identify_senders(int fd, bool wanted) noexcept;

/// Sends from the front of `ranges`, at most `link::max_iovecs` of them, without waiting and
/// without a signal.
ssize_t send_ranges(int fd, std::span<const iovec> ranges) noexcept;

/// The process at the other end of a connected stream socket.
peer_identity identify_peer(int fd) noexcept;

/// Who connected to (or listens on) the other end: "pid 4711, uid 1000"; "unknown" if the system
/// does not say.
std::string describe_peer(int fd);

} // namespace vmswitch
