#include "transport/datagram_link.hpp"

#include <algorithm>
#include <cstring>

#include <cerrno>

#include <fcntl.h>

#include "transport/frame/ethernet.hpp"

namespace vmswitch {

namespace {

io_result receive_failure(int code) {
  if (code == EAGAIN || code == EINTR || code == ENOBUFS || code == ENOMEM)
    return {.status = io_status::would_block};
  if (code == ECONNRESET || code == ECONNREFUSED)
    return {.status = io_status::closed};
  return {.status = io_status::failed, .error = code};
}

} // namespace

datagram_link::datagram_link(const std::shared_ptr<datagram_socket>& socket,
                             std::shared_ptr<const datagram_target> peer)
    : datagram_link{socket, std::move(peer), socket->claim()} {}

datagram_link::datagram_link(std::shared_ptr<datagram_socket> socket,
                             std::shared_ptr<const datagram_target> peer,
                             std::shared_ptr<datagram_endpoint> claimed)
    : socket_{std::move(socket)}, endpoint_{std::move(claimed)}, watched_{::fcntl(endpoint_->fd(),
                                                                                  F_DUPFD_CLOEXEC,
                                                                                  0)},
      peer_{peer->name()}, target_{std::move(peer)} {}

datagram_link::~datagram_link() {
  socket_->retry().cancel(*this);
}

io_result datagram_link::read(std::span<std::byte> space) {
  if (!reads_)
    return {.status = io_status::would_block};
  const std::size_t room = socket_->max_frame();
  const std::size_t stride = prefix_size + room;
  const std::size_t count = std::min(space.size() / stride, slots_.size());
  const int received = receive_datagrams(endpoint_->fd(), space.data() + prefix_size, stride, room,
                                         std::span{slots_}.first(count), ask_sender::no);
  if (received < 0)
    return receive_failure(errno);
  io_result result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(received); ++i) {
    std::byte* const frame = space.data() + i * stride + prefix_size;
    const std::uint32_t size = slots_[i].size;
    if (slots_[i].truncated)
      result.refused.add(size);
    if (size == 0 || slots_[i].truncated || datagram_socket::is_hello({frame, size}))
      continue;
    std::byte* const at = space.data() + result.bytes;
    std::memmove(at + prefix_size, frame, size);
    write_prefix(at, size);
    result.bytes += prefix_size + size;
  }
  result.more = static_cast<std::size_t>(received) == count;
  return result;
}

void datagram_link::dedicate(bool reads) {
  socket_->retry().cancel(*this);
  armed_ = false;
  target_.reset();
  reads_ = reads;
  if (reads_)
    slots_.resize(datagram_io_batch);
}

io_result datagram_link::write(std::span<const iovec> wire) {
  io_result result = endpoint_->send(target_ ? &target_->address() : nullptr, wire);
  if (!target_) {
    if (result.status == io_status::would_block && result.bytes > 0)
      result.status = io_status::ok;
    return result;
  }
  if (result.bytes > 0)
    delay_ = first_retry;
  if (result.status == io_status::would_block) {
    socket_->retry().arm(*this, delay_);
    armed_ = true;
    delay_ = std::min(delay_ * 2, last_retry);
    if (result.bytes > 0)
      result.status = io_status::ok; // short: "full for now"
  } else if (armed_) {
    socket_->retry().cancel(*this);
    armed_ = false;
  }
  return result;
}

void datagram_link::on_ready(std::function<void(readiness)> notify) {
  socket_->retry().cancel(*this); // now nobody else looks at notify_
  armed_ = false;
  notify_ = std::move(notify);
  if (notify_)
    notify_({.writable = true});
}

void datagram_link::retry() {
  if (notify_)
    notify_({.writable = true});
}

} // namespace vmswitch
