#include "tests/support/frame_socket.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "transport/codec.hpp"
#include "transport/connect.hpp"

namespace vmswitch::test {

namespace {

using clock = frame_socket::clock;

constexpr std::size_t buffer_size = 256 * 1024;
constexpr std::size_t frames_per_receive = 256; // datagrams; a stream is bounded by the buffer

// False when the deadline has passed first.
bool wait_for(int fd, short events, clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    pollfd watched{fd, events, 0};
    const auto ready =
        ::poll(&watched, 1, static_cast<int>(std::clamp<long long>(left.count(), 0, 60'000)));
    if (ready > 0)
      return true;
    if (clock::now() >= until)
      return false;
  }
}

std::size_t limited(std::size_t size, pace limits) {
  return limits.bytes_per_call == 0 ? size : std::min(size, limits.bytes_per_call);
}

void hold_back(std::size_t transferred, pace limits) {
  if (limits.bytes_per_second > 0)
    std::this_thread::sleep_for(std::chrono::duration<double>{
        static_cast<double>(transferred) / static_cast<double>(limits.bytes_per_second)});
}

bool is_transient(int code) {
  return code == EAGAIN || code == EINTR || code == ENOBUFS;
}

} // namespace

result<frame_socket> frame_socket::stream(const std::string& server_path) {
  auto fd = connect_stream(server_path);
  if (!fd)
    return tl::unexpected{fd.error()};
  return stream(std::move(*fd));
}

frame_socket frame_socket::stream(owned_fd connected) {
  return {std::move(connected), medium::stream, {}};
}

result<frame_socket> frame_socket::datagram(const std::string& own_path,
                                            const std::string& server_path) {
  auto fd = connect_datagram(server_path, own_path);
  if (!fd)
    return tl::unexpected{fd.error()};
  return frame_socket{std::move(*fd), medium::datagram, own_path};
}

frame_socket::frame_socket(owned_fd fd, medium kind, std::string own_path)
    : fd_{std::move(fd)}, medium_{kind}, own_path_{std::move(own_path)}, buffer_(buffer_size) {}

frame_socket::~frame_socket() {
  if (!own_path_.empty())
    ::unlink(own_path_.c_str());
}

result<void> frame_socket::send(std::span<const std::byte> bare, deadline until) {
  return send_wire(wire_form(bare), until);
}

result<void> frame_socket::send_wire(std::span<const std::byte> wire, deadline until) {
  if (medium_ == medium::stream)
    return send_bytes(wire, until);
  while (!wire.empty()) {
    const std::size_t size = read_prefix(wire.data());
    assert(prefix_size + size <= wire.size());
    if (auto sent = send_bytes(wire.subspan(prefix_size, size), until); !sent)
      return sent;
    wire = wire.subspan(prefix_size + size);
  }
  return {};
}

// A datagram leaves whole, with the first call that succeeds.
result<void> frame_socket::send_bytes(std::span<const std::byte> bytes, deadline until) {
  while (!bytes.empty()) {
    const auto size = medium_ == medium::stream ? limited(bytes.size(), write_pace_) : bytes.size();
    const auto sent = ::send(fd_.get(), bytes.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && !is_transient(errno))
      return fail_errno("cannot send", errno);
    if (sent < 0) {
      if (!wait_for(fd_.get(), POLLOUT, until))
        return fail(fmt::format("{} bytes not taken before the deadline", bytes.size()), EAGAIN);
      continue;
    }
    hold_back(static_cast<std::size_t>(sent), write_pace_);
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return {};
}

result<std::size_t> frame_socket::receive(deadline until, const visitor& visit, std::size_t most) {
  if (auto waited = visit_whole_frames(visit, most); !waited || *waited > 0)
    return waited;
  std::size_t frames = 0;
  while (frames < std::min(frames_per_receive, most)) {
    const auto space = std::span{buffer_}.subspan(filled_);
    const auto size = medium_ == medium::stream ? limited(space.size(), read_pace_) : space.size();
    const auto got = ::recv(fd_.get(), space.data(), size, MSG_DONTWAIT);
    if (got < 0 && !is_transient(errno))
      return fail_errno("cannot receive", errno);
    if (got == 0 && medium_ == medium::stream)
      return fail("the switch has hung up");
    if (got < 0) {
      if (frames > 0 || !wait_for(fd_.get(), POLLIN, until))
        return frames;
      continue;
    }
    hold_back(static_cast<std::size_t>(got), read_pace_);
    if (medium_ == medium::datagram) {
      visit(space.first(static_cast<std::size_t>(got)));
      ++frames;
      continue;
    }
    filled_ += static_cast<std::size_t>(got);
    auto visited = visit_whole_frames(visit, most);
    if (!visited || *visited > 0)
      return visited;
  }
  return frames;
}

result<std::size_t> frame_socket::visit_whole_frames(const visitor& visit, std::size_t most) {
  std::size_t frames = 0;
  auto rest = std::span<const std::byte>{buffer_}.first(filled_);
  while (frames < most && rest.size() >= prefix_size) {
    const std::size_t length = read_prefix(rest.data());
    if (length > frame_decoder::largest_length)
      return fail(fmt::format("the switch sent a frame length of {}: framing is lost", length));
    if (rest.size() < prefix_size + length)
      break;
    visit(rest.subspan(prefix_size, length));
    ++frames;
    rest = rest.subspan(prefix_size + length);
  }
  filled_ = rest.size();
  std::memmove(buffer_.data(), rest.data(), rest.size());
  return frames;
}

} // namespace vmswitch::test
