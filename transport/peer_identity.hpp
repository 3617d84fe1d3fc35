#pragma once

#include <optional>

#include <sys/types.h>

namespace vmswitch {

/// The process at the other end of a Unix socket, as the kernel knew it when it connected; what
/// the system does not tell is absent.
struct peer_identity {
  std::optional<pid_t> pid;
  std::optional<uid_t> uid;
};

} // namespace vmswitch
