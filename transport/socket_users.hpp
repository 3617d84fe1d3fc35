#pragma once

#include <optional>

#include <sys/types.h>

#include "transport/unix_address.hpp"

namespace vmswitch {

/// How many parts of the system hold a Unix socket, those that have connected to it among them
/// (proc(5), /proc/net/unix: RefCount), in whatever namespace they are. The number means something
/// only beside an earlier one of the same socket. Nothing where the system does not tell.
/// Reads a list of all Unix sockets: not for the hot path.
std::optional<unsigned> socket_users(int fd);

/// Whether exactly one socket that this process can see has connected to the Unix socket `fd`, and
/// `client` is its name (sock_diag(7)). False also where the system does not tell. As slow.
bool is_only_client(int fd, const unix_address& client);

/// The user of the datagram socket with an abstract name. Nothing if there is none, or the system
/// does not tell. As slow.
std::optional<uid_t> socket_owner(const unix_address& abstract);

} // namespace vmswitch
