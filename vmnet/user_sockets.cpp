#include "vmnet/user_sockets.hpp"

#include <algorithm>

namespace vmswitch {

user_sockets::state& user_sockets::of(int fd) {
  const auto at = static_cast<std::size_t>(fd);
  if (at >= states_.size())
    states_.resize(at + 1);
  return states_[at];
}

void user_sockets::opened(int fd) {
  if (fd < 0)
    return;
  closed(fd); // libslirp closes some sockets that failed to bind without a word
  state& socket = of(fd);
  socket = state{};
  socket.is_open = true;
  socket.serial = ++ever_opened_;
  socket.kind = kind_;
  socket.owner = owner_;
  ++open_[static_cast<std::size_t>(kind_)];
  ++owned_[owner_][static_cast<std::size_t>(kind_)];
  if (kind_ == socket_kind::udp && flow_ != 0) {
    socket.flow = flow_;
    ++flows_[flow_];
  }
}

void user_sockets::closed(int fd) {
  if (fd < 0)
    return;
  state& socket = of(fd);
  if (socket.watched != 0) {
    polls_.change(fd, socket.watched, 0);
    is_stale_ = true;
  }
  if (socket.is_open) {
    --open_[static_cast<std::size_t>(socket.kind)];
    if (const auto owner = owned_.find(socket.owner); owner != owned_.end()) {
      --owner->second[static_cast<std::size_t>(socket.kind)];
      if (owner->second == counts{})
        owned_.erase(owner);
    }
    if (const auto flow = flows_.find(socket.flow); flow != flows_.end() && --flow->second == 0)
      flows_.erase(flow);
  }
  socket = state{};
}

std::size_t user_sockets::open_of(std::uint64_t owner, socket_kind kind) const {
  const auto found = owned_.find(owner);
  return found == owned_.end() ? 0 : found->second[static_cast<std::size_t>(kind)];
}

std::uint64_t user_sockets::serial_of(int fd) const {
  const auto at = static_cast<std::size_t>(fd);
  return at < states_.size() ? states_[at].serial : 0;
}

void user_sockets::for_each_of(std::uint64_t owner, const std::function<void(int)>& visit) const {
  for (std::size_t fd = 0; fd < states_.size(); ++fd)
    if (states_[fd].is_open && states_[fd].owner == owner)
      visit(static_cast<int>(fd));
}

int user_sockets::add(int fd, unsigned events) {
  wanted_.push_back({fd, of(fd).is_listener && !accepts_ ? 0 : events});
  return static_cast<int>(wanted_.size()) - 1;
}

void user_sockets::commit() {
  if (!is_stale_ && wanted_ == watched_)
    return;
  is_stale_ = false;
  for (const wish& socket : wanted_)
    of(socket.fd).wanted = socket.events;
  for (const wish& socket : watched_)
    if (state& known = of(socket.fd); known.wanted == 0 && known.watched != 0) {
      polls_.change(socket.fd, known.watched, 0);
      known.watched = 0;
    }
  for (const wish& socket : wanted_) {
    state& known = of(socket.fd);
    if (polls_.change(socket.fd, known.watched, socket.events))
      known.watched = socket.events;
    else
      is_stale_ = true; // out of kernel memory: the next commit tries again
    known.wanted = 0;
    known.was_readable_wanted |= (socket.events & poll_set::readable) != 0;
  }
  watched_ = wanted_;
}

void user_sockets::set_ready(std::span<const poll_set::ready> ready) {
  clear_ready();
  for (const auto& socket : ready) {
    of(socket.fd).ready = socket.events;
    ready_.push_back(socket.fd);
  }
}

void user_sockets::clear_ready() {
  for (const int fd : ready_)
    of(fd).ready = 0;
  ready_.clear();
}

bool user_sockets::has_caller() const {
  return std::ranges::any_of(
      ready_, [&](int fd) { return states_[static_cast<std::size_t>(fd)].is_listener; });
}

unsigned user_sockets::ready_at(int position) const {
  const auto at = static_cast<std::size_t>(position);
  if (at >= wanted_.size())
    return 0;
  const wish& asked = wanted_[at];
  const state& socket = states_[static_cast<std::size_t>(asked.fd)];
  if (socket.ready == 0 || (asked.events & poll_set::readable) != 0 || !socket.was_readable_wanted)
    return socket.ready;
  // libslirp does not want to read because its buffer is full, and yet would read on an error or
  // hang-up, and end the process with a failed assertion. A write finds the error as well.
  return poll_set::writable;
}

} // namespace vmswitch
