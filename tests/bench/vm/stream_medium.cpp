#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/time.h>

#include "tests/bench/vm/medium.hpp"

namespace vmswitch::bench {

namespace {

class stream final : public medium {
public:
  explicit stream(owned_fd connected) : fd_{std::move(connected)} {}

  bool send(std::span<const std::byte> wire) override {
    while (!wire.empty()) {
      const ssize_t sent = ::send(fd_.get(), wire.data(), wire.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR)
        continue;
      if (sent <= 0)
        return false;
      wire = wire.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }

  reading receive() override {
    ssize_t got;
    do
      got = ::recv(fd_.get(), buffer_->data() + filled_, buffer_size - filled_, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
      return {outcome::out_of_patience};
    if (got <= 0)
      return {outcome::hung_up};
    filled_ += static_cast<std::size_t>(got);
    return {outcome::received, std::span{buffer_->data(), filled_}};
  }

  void consumed(std::size_t bytes) noexcept override {
    filled_ -= bytes;
    if (bytes > 0)
      std::memmove(buffer_->data(), buffer_->data() + bytes, filled_);
  }

  void set_patience(int milliseconds) override {
    const timeval time{milliseconds / 1000, milliseconds % 1000 * 1000};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  }
  void shut_down() noexcept override { ::shutdown(fd_.get(), SHUT_RDWR); }
  int fd() const noexcept override { return fd_.get(); }

private:
  static constexpr std::size_t buffer_size = 256 * 1024; // several of the largest frames
  using buffer = std::array<std::byte, buffer_size>;

  owned_fd fd_;
  std::unique_ptr<buffer> buffer_ = std::make_unique_for_overwrite<buffer>();
  std::size_t filled_ = 0;
};

} // namespace

std::unique_ptr<medium> stream_medium(owned_fd connected) {
  return std::make_unique<stream>(std::move(connected));
}

} // namespace vmswitch::bench
