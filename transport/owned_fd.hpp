#pragma once

#include <utility>

#include <unistd.h>

namespace vmswitch {

/// A file descriptor with one owner, closed with it. -1 means none.
class owned_fd {
public:
  owned_fd() noexcept = default;
  explicit owned_fd(int fd) noexcept : fd_{fd} {}
  owned_fd(owned_fd&& other) noexcept : fd_{other.release()} {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    if (this != &other)
      reset(other.release());
    return *this;
  }
  ~owned_fd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = fd;
  }

private:
  int fd_ = -1;
};

} // namespace vmswitch
