#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/error.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// Many descriptors behind one that is readable while any of them is, so that their owner watches
/// a single one. Thread-safe.
class readable_set {
public:
  static result<readable_set> create();

  /// Readable while one of the set is. Watched edge-triggered, it tells anew when a descriptor
  /// becomes readable after ready() has returned 0.
  int fd() const noexcept { return set_.get(); }

  /// `tag` comes back from ready(). False when the system has no memory or watches left.
  bool add(int fd, std::uint64_t tag) noexcept;
  /// Must be called before the descriptor is closed. Its tag may have been fetched already.
  void remove(int fd) noexcept;

  /// Fills `tags` with those of readable descriptors, in turn if there are more. Returns how many.
  std::size_t ready(std::span<std::uint64_t> tags) noexcept;

private:
  explicit readable_set(owned_fd set) : set_{std::move(set)} {}
  owned_fd set_;
};

} // namespace vmswitch
