#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>

#include <poll.h>
#include <unistd.h>

#include "tests/bench/vm/medium.hpp"
#include "transport/frame/ethernet.hpp"

namespace vmswitch::bench {

namespace {

using clock = std::chrono::steady_clock;

// Non-blocking, so that a busy receiver pays for nothing but its reads; nothing can shut a TAP
// down, so it looks up now and then while it waits.
class tap final : public medium {
public:
  explicit tap(owned_fd device) : fd_{std::move(device)} {}

  bool send(std::span<const std::byte> wire) override {
    while (!wire.empty() && !shut_down_.load(std::memory_order_relaxed)) {
      const std::uint32_t length = read_prefix(wire.data());
      const ssize_t sent = ::write(fd_.get(), wire.data() + prefix_size, length);
      if (sent >= 0)
        wire = wire.subspan(prefix_size + length);
      else if (errno == EAGAIN)
        wait_for(POLLOUT, look_up_ms);
      else if (errno != EINTR && errno != ENOBUFS)
        return false;
    }
    return wire.empty();
  }

  reading receive() override {
    const auto begin = clock::now();
    while (!shut_down_.load(std::memory_order_relaxed)) {
      const ssize_t got = ::read(fd_.get(), buffer_.data() + prefix_size, frame_room);
      if (got > 0) {
        write_prefix(buffer_.data(), static_cast<std::uint32_t>(got));
        return {outcome::received,
                std::span{buffer_}.first(prefix_size + static_cast<std::size_t>(got))};
      }
      if (got < 0 && errno != EAGAIN && errno != EINTR)
        return {outcome::hung_up};
      if (patience_ > 0 && clock::now() - begin > std::chrono::milliseconds{patience_})
        return {outcome::out_of_patience};
      wait_for(POLLIN, patience_ > 0 ? patience_ : look_up_ms);
    }
    return {outcome::hung_up};
  }
  void consumed(std::size_t) noexcept override {}

  void set_patience(int milliseconds) override { patience_ = milliseconds; }
  void shut_down() noexcept override { shut_down_.store(true, std::memory_order_relaxed); }
  int fd() const noexcept override { return fd_.get(); }

private:
  static constexpr std::size_t frame_room = 2048;
  static constexpr int look_up_ms = 50;

  void wait_for(short events, int milliseconds) const {
    pollfd ready{fd_.get(), events, 0};
    ::poll(&ready, 1, milliseconds);
  }

  owned_fd fd_;
  int patience_ = 0;
  std::atomic<bool> shut_down_{false};
  std::array<std::byte, prefix_size + frame_room> buffer_;
};

} // namespace

std::unique_ptr<medium> tap_medium(owned_fd device) {
  return std::make_unique<tap>(std::move(device));
}

} // namespace vmswitch::bench
