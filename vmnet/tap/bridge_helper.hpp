#pragma once

#include <string>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// Asks QEMU's setuid helper for a TAP in `bridge` (it is root, and decides by
/// /etc/qemu/bridge.conf whether this user may). The TAP comes as a descriptor over a Unix socket.
/// `program` empty: where distributions put it. Waits for it, 5 s at most.
result<owned_fd> tap_from_helper(const std::string& program, const std::string& bridge);

} // namespace vmswitch
