#include "transport/memory_link.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <limits>

namespace vmswitch {

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// How transfers in one direction go wrong.
struct fault_script {
  std::deque<std::size_t> next;
  std::size_t limit = unlimited;
  int error = 0;

  std::size_t take_limit() {
    if (next.empty())
      return limit;
    const std::size_t bytes = next.front();
    next.pop_front();
    return bytes;
  }
};

} // namespace

struct memory_pipe {
  std::string name;
  std::deque<std::byte> to_link;
  std::vector<std::byte> to_peer;
  std::size_t capacity = unlimited; // of to_peer
  bool link_waits = false;          // for room in to_peer
  bool link_closed = false;
  bool hung_up = false;
  fault_script reads;
  fault_script writes;
  std::function<void(readiness)> notify_link;
  std::function<void()> notify_peer;

  void tell_link(readiness what) {
    if (notify_link && !link_closed)
      notify_link(what);
  }
  void tell_peer() {
    if (notify_peer)
      notify_peer();
  }
  void room_again() {
    if (link_waits && to_peer.size() < capacity) {
      link_waits = false;
      tell_link({.writable = true});
    }
  }
};

memory_link::memory_link(std::shared_ptr<memory_pipe> pipe) : pipe_{std::move(pipe)} {}

memory_link::~memory_link() {
  pipe_->link_closed = true;
  pipe_->notify_link = nullptr;
  pipe_->tell_peer();
}

io_result memory_link::read(std::span<std::byte> space) {
  if (const int code = std::exchange(pipe_->reads.error, 0); code != 0)
    return {.status = io_status::failed, .error = code};
  auto& source = pipe_->to_link;
  if (source.empty())
    return {.status = pipe_->hung_up ? io_status::closed : io_status::would_block};
  const std::size_t possible = std::min(space.size(), source.size());
  const std::size_t count = std::min(possible, pipe_->reads.take_limit());
  std::copy_n(source.begin(), count, space.begin());
  source.erase(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(count));
  if (count < possible)
    pipe_->tell_link({.readable = true, .hangup = pipe_->hung_up});
  if (count == 0)
    return {.status = io_status::would_block};
  return {.bytes = count};
}

io_result memory_link::write(std::span<const iovec> wire) {
  if (const int code = std::exchange(pipe_->writes.error, 0); code != 0)
    return {.status = io_status::failed, .error = code};
  if (pipe_->hung_up)
    return {.status = io_status::closed};
  wire = wire.first(std::min(wire.size(), max_iovecs));
  std::size_t offered = 0;
  for (const iovec& range : wire)
    offered += range.iov_len;
  if (offered == 0)
    return {};
  auto& sink = pipe_->to_peer;
  const std::size_t room = pipe_->capacity - std::min(pipe_->capacity, sink.size());
  const std::size_t possible = std::min(offered, room);
  const std::size_t count = possible == 0 ? 0 : std::min(possible, pipe_->writes.take_limit());
  std::size_t left = count;
  for (const iovec& range : wire) {
    const auto* bytes = static_cast<const std::byte*>(range.iov_base);
    const std::size_t part = std::min(left, range.iov_len);
    sink.insert(sink.end(), bytes, bytes + part);
    left -= part;
  }
  if (possible < offered)
    pipe_->link_waits = true;
  if (count > 0)
    pipe_->tell_peer();
  if (count < possible)
    pipe_->tell_link({.writable = true});
  if (count == 0)
    return {.status = io_status::would_block};
  return {.bytes = count};
}

void memory_link::on_ready(std::function<void(readiness)> notify) {
  pipe_->notify_link = std::move(notify);
  pipe_->tell_link({.readable = !pipe_->to_link.empty() || pipe_->hung_up,
                    .writable = pipe_->to_peer.size() < pipe_->capacity || pipe_->hung_up,
                    .hangup = pipe_->hung_up});
}

std::string memory_link::peer() const {
  return pipe_->name;
}

memory_peer::memory_peer(std::shared_ptr<memory_pipe> pipe) : pipe_{std::move(pipe)} {}

memory_peer::~memory_peer() {
  if (!pipe_) // moved from
    return;
  pipe_->notify_peer = nullptr;
  hang_up();
}

bool memory_peer::send(std::span<const std::byte> bytes) {
  assert(!pipe_->hung_up);
  if (pipe_->link_closed)
    return false;
  if (!bytes.empty()) {
    pipe_->to_link.insert(pipe_->to_link.end(), bytes.begin(), bytes.end());
    pipe_->tell_link({.readable = true});
  }
  return true;
}

std::vector<std::byte> memory_peer::receive() {
  auto received = std::exchange(pipe_->to_peer, {});
  pipe_->room_again();
  return received;
}

std::size_t memory_peer::unread() const noexcept {
  return pipe_->to_peer.size();
}

void memory_peer::on_output(std::function<void()> notify) {
  pipe_->notify_peer = std::move(notify);
}

void memory_peer::hang_up() {
  if (!std::exchange(pipe_->hung_up, true))
    pipe_->tell_link({.readable = true, .writable = true, .hangup = true});
}

bool memory_peer::closed() const noexcept {
  return pipe_->link_closed;
}

void memory_peer::set_capacity(std::size_t bytes) {
  pipe_->capacity = bytes;
  pipe_->room_again();
}

void memory_peer::script_reads(std::initializer_list<std::size_t> bytes) {
  pipe_->reads.next.insert(pipe_->reads.next.end(), bytes);
}

void memory_peer::script_writes(std::initializer_list<std::size_t> bytes) {
  pipe_->writes.next.insert(pipe_->writes.next.end(), bytes);
}

void memory_peer::limit_reads(std::size_t bytes) {
  assert(bytes > 0);
  pipe_->reads.limit = bytes;
}

void memory_peer::limit_writes(std::size_t bytes) {
  assert(bytes > 0);
  pipe_->writes.limit = bytes;
}

void memory_peer::fail_next_read(int code) {
  pipe_->reads.error = code;
}

void memory_peer::fail_next_write(int code) {
  pipe_->writes.error = code;
}

std::pair<std::unique_ptr<memory_link>, memory_peer> make_memory_link(std::string name) {
  auto pipe = std::make_shared<memory_pipe>();
  pipe->name = std::move(name);
  return {std::make_unique<memory_link>(pipe), memory_peer{pipe}};
}

} // namespace vmswitch
