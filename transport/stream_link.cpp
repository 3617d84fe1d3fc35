#include "transport/stream_link.hpp"

#include <algorithm>

#include <cerrno>

#include <sys/socket.h>

#include "transport/unix_socket.hpp"

namespace vmswitch {

namespace {

// Fits into one page together with the kernel's own header.
constexpr std::size_t least_memory = 2048;
constexpr int most_interruptions = 16;

bool out_of_memory(int code) {
  return code == ENOBUFS || code == ENOMEM;
}

io_result failed_result(int code) {
  switch (code) {
  case EAGAIN:
  case EINTR:
  case ENOBUFS:
  case ENOMEM:
    return {.status = io_status::would_block};
  case EPIPE:
  case ECONNRESET:
  case ENOTCONN:
    return {.status = io_status::closed};
  default:
    return {.status = io_status::failed, .error = code};
  }
}

template <class Call>
ssize_t uninterrupted(Call call) {
  ssize_t done = call();
  for (int i = 0; done < 0 && errno == EINTR && i < most_interruptions; ++i)
    done = call();
  return done;
}

} // namespace

stream_link::stream_link(owned_fd socket) : socket_{std::move(socket)} {
  adopt_unix_socket(socket_.get());
  peer_ = describe_peer(socket_.get());
  identity_ = identify_peer(socket_.get());
}

io_result stream_link::read(std::span<std::byte> space) {
  const ssize_t got = uninterrupted(
      [&] { return ::recv(socket_.get(), space.data(), space.size(), MSG_DONTWAIT); });
  if (got > 0)
    return {.bytes = static_cast<std::size_t>(got)};
  return got == 0 ? io_result{.status = io_status::closed} : failed_result(errno);
}

io_result stream_link::write(std::span<const iovec> wire) {
  if (wire.empty())
    return {};
  ssize_t sent = uninterrupted([&] { return send_ranges(socket_.get(), wire); });
  if (sent < 0 && out_of_memory(errno)) {
    const iovec little{wire[0].iov_base, std::min(wire[0].iov_len, least_memory)};
    sent = uninterrupted([&] { return send_ranges(socket_.get(), {&little, 1}); });
  }
  return sent >= 0 ? io_result{.bytes = static_cast<std::size_t>(sent)} : failed_result(errno);
}

} // namespace vmswitch
