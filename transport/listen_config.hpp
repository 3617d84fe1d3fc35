#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace vmswitch {

enum class listen_type : std::uint8_t {
  stream, ///< SOCK_STREAM, length-prefixed frames: QEMU -netdev stream, fd 3
  dgram,  ///< SOCK_DGRAM, a frame per datagram: QEMU -netdev dgram, vfkit, libkrun
};

/// A Unix socket that VMs connect to.
struct listen_config {
  listen_type type = listen_type::stream;
  std::string path;
  std::optional<std::string> group{}; // name of the group that owns the socket file
  std::optional<mode_t> mode{};       // permissions; default 0600, or 0660 when a group is named
  /// A socket of this type that a service manager opened and keeps, with its file: it is used in
  /// place of a new one, and group and mode are the manager's. The descriptor stays open.
  std::optional<int> inherited{};
  bool isolated = false; // VMs that connect here do not reach each other
  friend bool operator==(const listen_config&, const listen_config&) = default;
};

} // namespace vmswitch
