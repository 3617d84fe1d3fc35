#pragma once

#include <string_view>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// For clients of the daemon: a blocking socket, closed on exec, connected to `path`. Waits while
/// the daemon's backlog is full. The error says what to do: start the daemon, ask for permission.
result<owned_fd> connect_stream(std::string_view path);

/// A blocking datagram socket, closed on exec, bound to `own_path` (which the server answers to;
/// made absolute, since the server may run in another directory) and connected to `server_path`.
/// A stale socket at `own_path` is replaced; the caller removes the file after use. On failure no
/// file is left.
result<owned_fd> connect_datagram(std::string_view server_path, std::string_view own_path);

} // namespace vmswitch
