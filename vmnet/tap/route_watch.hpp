#pragma once

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// Tells when the host's way out changes: a default route came or went (rtnetlink, RFC 3549).
class route_watch {
public:
  static result<route_watch> open();

  /// Readable when changed() has something to look at.
  int fd() const noexcept { return fd_.get(); }
  /// Looks at all that has come; true if a default route was among it, or if too much came to be
  /// kept. Does not block.
  bool changed() noexcept;

private:
  explicit route_watch(owned_fd fd) noexcept : fd_{std::move(fd)} {}
  owned_fd fd_;
};

} // namespace vmswitch
