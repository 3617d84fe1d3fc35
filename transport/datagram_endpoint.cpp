#include "transport/datagram_endpoint.hpp"

#include <array>
#include <atomic>
#include <cassert>

#include <cerrno>

#include <sys/socket.h>

#include "transport/datagram_io.hpp"
#include "transport/frame/ethernet.hpp"
#include "transport/socket_users.hpp"
#include "transport/unix_socket.hpp"

namespace vmswitch {

namespace {

constexpr int most_interruptions = 16;

// Walks over frames in wire form that lie in several ranges.
class wire_cursor {
public:
  explicit wire_cursor(std::span<const iovec> wire) : wire_{wire} { settle(); }

  bool at_end() const { return range_ == wire_.size(); }
  iovec frame() const {
    const iovec& range = wire_[range_];
    std::byte* at = static_cast<std::byte*>(range.iov_base) + offset_;
    const std::uint32_t length = read_prefix(at);
    assert(offset_ + prefix_size + length <= range.iov_len);
    return {at + prefix_size, length};
  }
  void pass(const iovec& frame) {
    offset_ += prefix_size + frame.iov_len;
    settle();
  }

private:
  void settle() {
    while (range_ < wire_.size() && offset_ >= wire_[range_].iov_len) {
      ++range_;
      offset_ = 0;
    }
  }

  std::span<const iovec> wire_;
  std::size_t range_ = 0;
  std::size_t offset_ = 0;
};

// What socket_users() tells of a socket that nobody has connected to.
std::optional<unsigned> users_of_a_lone_socket() {
  static std::atomic<unsigned> known{0};
  if (const auto users = known.load(); users > 0)
    return users;
  const owned_fd lone = open_unix_socket(SOCK_DGRAM, blocking::no);
  const auto users = socket_users(lone.get());
  known.store(users.value_or(0));
  return users;
}

io_status status_of(int code) {
  switch (code) {
  case EAGAIN:
  case EINTR:
  case ENOBUFS:
  case ENOMEM:
    return io_status::would_block;
  case ECONNREFUSED:
  case ECONNRESET:
  case ENOENT:
  case ENOTCONN:
  case EPERM: // it takes datagrams from another socket only
  case EPIPE:
    return io_status::closed;
  default:
    return io_status::failed;
  }
}

} // namespace

datagram_endpoint::datagram_endpoint(owned_fd socket, std::shared_ptr<readable_set> set,
                                     std::uint64_t tag)
    : socket_{std::move(socket)}, name_{socket_.get()}, set_{std::move(set)}, tag_{tag} {
  enlist();
}

datagram_endpoint::~datagram_endpoint() {
  set_->remove(fd());
}

datagram_endpoint::dedication datagram_endpoint::dedicate(const datagram_target& peer,
                                                          bool here) noexcept {
  if (tried_ || !moved_)
    return dedication::none;
  tried_ = true;
  const auto users = socket_users(fd());
  const auto of_nobody = users_of_a_lone_socket();
  // Nobody new can connect any more. So if there is one client now, and later the peer is seen to
  // be a client, there is no other one, not even where we cannot see it.
  if (!users || !of_nobody || *users != *of_nobody + (here ? 1U : 0U) ||
      (here && !is_only_client(fd(), peer.name())) ||
      ::connect(fd(), peer.address().data(), peer.address().length()) != 0)
    return dedication::none;
  if (!here)
    return dedication::sends;
  set_->remove(fd());
  identify_senders(fd(), false); // the system lets nobody else send here
  has_client_ = true;
  return dedication::both;
}

bool datagram_endpoint::abandoned() const {
  const auto users = socket_users(fd());
  return has_client_ && users && users == users_of_a_lone_socket();
}

io_result datagram_endpoint::send(const unix_address* to,
                                  std::span<const iovec> wire) const noexcept {
  io_result result;
  std::array<iovec, datagram_io_batch> frames;
  int interruptions = 0;
  for (wire_cursor front{wire}; !front.at_end();) {
    std::size_t count = 0;
    for (wire_cursor next = front; count < frames.size() && !next.at_end(); ++count) {
      frames[count] = next.frame();
      next.pass(frames[count]);
    }
    int done = send_datagrams(fd(), to, std::span{frames}.first(count));
    if (done < 0) {
      if (errno == EINTR && ++interruptions < most_interruptions)
        continue;
      if (errno != EMSGSIZE) {
        result.status = status_of(errno);
        result.error = result.status == io_status::failed ? errno : 0;
        return result;
      }
      result.refused.add(frames[0].iov_len); // larger than any datagram here can be
      done = 1;
    }
    for (int i = 0; i < done; ++i) {
      result.bytes += prefix_size + frames[static_cast<std::size_t>(i)].iov_len;
      front.pass(frames[static_cast<std::size_t>(i)]);
    }
  }
  return result;
}

} // namespace vmswitch
