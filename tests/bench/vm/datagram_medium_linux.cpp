#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/bench/vm/medium.hpp"
#include "transport/frame/ethernet.hpp"

namespace vmswitch::bench {

namespace {

constexpr std::size_t most_per_call = 64;
constexpr std::size_t frame_room = 2048 - prefix_size; // no jumbo frames over datagrams

class datagram final : public medium {
public:
  datagram(owned_fd connected, std::string own_path, owned_fd control)
      : fd_{std::move(connected)}, control_{std::move(control)}, own_path_{std::move(own_path)},
        buffer_(most_per_call * stride) {
    for (std::size_t i = 0; i < most_per_call; ++i) {
      slots_[i] = {buffer_.data() + i * stride + prefix_size, frame_room};
      incoming_[i].msg_hdr.msg_iov = &slots_[i];
      incoming_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  ~datagram() override {
    if (!own_path_.empty())
      ::unlink(own_path_.c_str());
  }

  bool send(std::span<const std::byte> wire) override {
    while (!wire.empty()) {
      std::array<iovec, most_per_call> frames;
      std::array<mmsghdr, most_per_call> messages{};
      std::size_t count = 0;
      for (; count < most_per_call && !wire.empty(); ++count) {
        const std::uint32_t length = read_prefix(wire.data());
        frames[count] = {const_cast<std::byte*>(wire.data()) + prefix_size, length};
        messages[count].msg_hdr.msg_iov = &frames[count];
        messages[count].msg_hdr.msg_iovlen = 1;
        wire = wire.subspan(prefix_size + length);
      }
      for (std::size_t first = 0; first < count;) {
        const int sent = ::sendmmsg(fd_.get(), messages.data() + first,
                                    static_cast<unsigned>(count - first), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
          continue;
        if (sent <= 0)
          return false;
        first += static_cast<std::size_t>(sent);
      }
    }
    return true;
  }

  reading receive() override {
    int got;
    do
      got = ::recvmmsg(fd_.get(), incoming_.data(), most_per_call, MSG_WAITFORONE, nullptr);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
      return {outcome::out_of_patience};
    if (got <= 0 || incoming_[0].msg_len == 0) // frames are never empty: we were shut down
      return {outcome::hung_up};
    const auto count = static_cast<std::size_t>(got);
    for (std::size_t i = 0; i < count; ++i)
      write_prefix(buffer_.data() + i * stride, incoming_[i].msg_len);
    return {outcome::received, std::span{buffer_}.first(count * stride), stride};
  }
  void consumed(std::size_t) noexcept override {}

  void set_patience(int milliseconds) override {
    const timeval time{milliseconds / 1000, milliseconds % 1000 * 1000};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  }
  void shut_down() noexcept override { ::shutdown(fd_.get(), SHUT_RDWR); }
  int fd() const noexcept override { return fd_.get(); }

private:
  static constexpr std::size_t stride = prefix_size + frame_room;

  owned_fd fd_;
  owned_fd control_;
  const std::string own_path_;
  std::vector<std::byte> buffer_;
  std::array<iovec, most_per_call> slots_;
  std::array<mmsghdr, most_per_call> incoming_{};
};

} // namespace

std::unique_ptr<medium> datagram_medium(owned_fd connected, std::string own_path,
                                        owned_fd control) {
  return std::make_unique<datagram>(std::move(connected), std::move(own_path), std::move(control));
}

} // namespace vmswitch::bench
