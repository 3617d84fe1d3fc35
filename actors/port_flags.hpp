#pragma once

namespace vmswitch {

/// What somebody has told a port to be, as long as it is there.
struct port_flags {
  bool isolated = false; ///< it and other isolated ports exchange no frames
  bool down = false;     ///< it is connected, but nothing is forwarded from or to it
  friend bool operator==(port_flags, port_flags) = default;
};

} // namespace vmswitch
