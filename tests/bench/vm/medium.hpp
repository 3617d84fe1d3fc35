#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch::bench {

/// How a simulated VM's frames get to the switch and back. Calls block. One thread may send while
/// another one receives.
class medium {
public:
  virtual ~medium() = default;

  /// Sends all frames of `wire` (each behind its prefix); false when the switch has hung up.
  virtual bool send(std::span<const std::byte> wire) = 0;

  enum class outcome : std::uint8_t { received, out_of_patience, hung_up };
  struct reading {
    outcome status = outcome::received;
    /// Frames behind their prefixes; the last one may be incomplete. Valid until consumed().
    std::span<const std::byte> wire{};
    /// Distance of one prefix from the next; 0: one frame ends where the next prefix begins.
    std::size_t stride = 0;
  };
  /// Waits for one read.
  virtual reading receive() = 0;
  /// So many bytes of the reading are done with; what is behind them is presented again.
  virtual void consumed(std::size_t bytes) noexcept = 0;

  /// How long receive() waits; 0 is for ever.
  virtual void set_patience(int milliseconds) = 0;
  /// Whoever is in send() or receive() returns.
  virtual void shut_down() noexcept = 0;
  virtual int fd() const noexcept = 0;
};

/// A stream socket that is connected already.
std::unique_ptr<medium> stream_medium(owned_fd connected);

/// A datagram socket that is connected already, many frames a call. `own_path` and `control`, a
/// descriptor that must stay open meanwhile, go with it.
std::unique_ptr<medium> datagram_medium(owned_fd connected, std::string own_path,
                                        owned_fd control = {});

/// The VM's end of a TAP device: one frame a call.
std::unique_ptr<medium> tap_medium(owned_fd device);

} // namespace vmswitch::bench
