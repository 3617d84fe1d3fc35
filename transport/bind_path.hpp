#pragma once

#include "transport/error.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

/// Binds a new socket of `type` (SOCK_STREAM, SOCK_DGRAM) to a path, with permissions of at most
/// 0600. A socket file that nobody listens on any more (left by kill -9) is replaced; any other
/// file is kept, and so is a socket in use: both are errors that name the path. Tells users from a
/// left-over by connecting, which the other process sees as a connection that ends at once.
///
/// Two processes that replace the same stale file in the same instant are told apart unless the
/// one has bound and not yet called listen(): do so at once.
result<void> bind_path(int fd, int type, const unix_address& address);

/// True if nobody can receive at `address` any more. One that merely refuses us, or is busy, is
/// alive. Thread-safe.
bool is_dead(int type, const unix_address& address);

} // namespace vmswitch
