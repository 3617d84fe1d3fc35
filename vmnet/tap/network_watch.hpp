#pragma once

#include <string>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// Tells when somebody changes what a network with a device rests on (rtnetlink, RFC 3549).
class network_watch {
public:
  struct changes {
    /// The host's ways out: a default route or a device came or went, or went up or down. Routes
    /// that go with their device are not told of by themselves.
    bool ways_out = false;
    /// An address was taken from the network's device, or that went up or down.
    bool addresses = false;
  };

  /// For the network of a device that exists.
  static result<network_watch> open(const std::string& device);

  /// Readable when look() has something to look at.
  int fd() const noexcept { return fd_.get(); }
  /// Looks at all that has come; if too much came to be kept, all has changed. Does not block.
  changes look();

private:
  network_watch(owned_fd fd, unsigned device) noexcept : fd_{std::move(fd)}, device_{device} {}
  owned_fd fd_;
  unsigned device_; // its index
};

} // namespace vmswitch
