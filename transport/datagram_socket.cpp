#include "transport/datagram_socket.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>

#include <cerrno>

#include "transport/bind_path.hpp"
#include "transport/unix_socket.hpp"

namespace vmswitch {

namespace {

constexpr auto prefix = static_cast<std::uint32_t>(prefix_size);
constexpr std::string_view hello = "VFKT";

// Frames up to this size are moved together: a copy within the cache is cheaper than a range of
// its own in every queue that the burst passes, and than the memory up to the next slot.
constexpr std::uint32_t largest_copied = 512;

datagram_arrival& arrival_from(std::string_view name, const datagram_slot& slot,
                               const slab_ref& memory, datagram_batch& out) {
  for (datagram_arrival& known : out.arrivals)
    if (known.from.name() == name && known.sender == slot.sender)
      return known;
  return out.arrivals.emplace_back(
      datagram_arrival{.from = unix_address::from_kernel(slot.from, slot.from_length),
                       .sender = slot.sender,
                       .frames = burst{memory}});
}

} // namespace

datagram_socket::datagram_socket(listening_socket socket, std::uint32_t max_frame,
                                 std::unique_ptr<retry_timer> retry,
                                 std::shared_ptr<readable_set> set)
    : socket_{std::move(socket)}, max_frame_{max_frame}, retry_{std::move(retry)}, set_{std::move(
                                                                                       set)},
      slots_(batch_size) {
  assert(prefix_size + max_frame <= slab::capacity);
}

result<std::shared_ptr<datagram_socket>> datagram_socket::create(listening_socket socket,
                                                                 std::uint32_t max_frame) {
  assert(socket.type() == listen_type::dgram);
  auto retry = retry_timer::create();
  if (!retry)
    return tl::unexpected{retry.error()};
  auto set = readable_set::create();
  if (!set)
    return tl::unexpected{set.error()};
  std::shared_ptr<datagram_socket> created{
      new datagram_socket{std::move(socket), max_frame, std::move(*retry),
                          std::make_shared<readable_set>(std::move(*set))}};
  created->adopt_current();
  created->heard_on_ = created->current_;
  return created;
}

datagram_socket::~datagram_socket() {
  withdraw();
}

void datagram_socket::adopt_current() {
  // Those that have gone since. Twice as many as there are may be kept until then.
  if (endpoints_.size() >= sweep_at_) {
    std::erase_if(endpoints_, [](const auto& each) { return each.second.expired(); });
    sweep_at_ = std::max<std::size_t>(64, 2 * endpoints_.size());
  }
  const std::uint64_t tag = next_tag_++;
  current_ = std::make_shared<datagram_endpoint>(socket_.take_fd(), set_, tag);
  endpoints_.emplace(tag, current_);
}

std::shared_ptr<datagram_endpoint>
datagram_socket::claim(std::shared_ptr<datagram_endpoint> claimed) {
  // Without a new socket (no descriptor, no permission any more) peers share the old one.
  if (claimed == current_ && socket_.renew()) {
    claimed->moved();
    adopt_current();
  }
  return claimed;
}

datagram_endpoint::dedication datagram_socket::dedicate(const datagram_target& peer,
                                                        datagram_endpoint& own) {
  const bool here = heard_on_.get() == &own;
  if (here && !heard_settled_)
    return datagram_endpoint::dedication::none; // it may have been sent before the path moved on
  const auto done = own.dedicate(peer, here);
  if (done == datagram_endpoint::dedication::both) {
    endpoints_.erase(own.tag());
    heard_on_ = current_; // it is to go with its link
  }
  return done;
}

// Makes the next endpoint with something to read the one that is heard on.
bool datagram_socket::next_ready() {
  for (;;) {
    if (ready_.empty()) {
      ready_.resize(batch_size);
      ready_.resize(set_->ready(ready_));
      // The oldest is taken first: what a peer has sent to the path before it led elsewhere comes
      // before what it has sent since.
      std::ranges::sort(ready_, std::greater{});
      if (ready_.empty())
        return false;
    }
    const auto found = endpoints_.find(ready_.back());
    ready_.pop_back();
    if (found == endpoints_.end())
      continue;
    if (auto endpoint = found->second.lock()) {
      heard_on_ = std::move(endpoint);
      return true;
    }
    endpoints_.erase(found);
  }
}

datagram_socket::receive_result datagram_socket::receive(const slab_ref& memory,
                                                         std::uint32_t& used, datagram_batch& out) {
  out.clear();
  const std::uint32_t stride = prefix + max_frame_;
  const std::size_t room = (slab::capacity - used) / stride;
  if (room == 0)
    return {receive_status::full};
  current_->enlist();
  if (!next_ready()) {
    heard_on_->emptied(); // all of them are empty; the others find out in their turn
    return {receive_status::drained};
  }
  heard_settled_ = heard_on_->settled();
  const std::size_t wanted = std::min(room, batch_size);
  const int received =
      receive_datagrams(heard_on_->fd(), memory->data() + used + prefix, stride, max_frame_,
                        std::span{slots_}.first(wanted), ask_sender::yes);
  if (received < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ENOMEM)
    return {receive_status::failed, errno};
  const auto count = static_cast<std::size_t>(std::max(received, 0));
  sort(memory, used, count, out);
  if (count < wanted)
    heard_on_->emptied();
  return {receive_status::more};
}

void datagram_socket::sort(const slab_ref& memory, std::uint32_t& used, std::size_t count,
                           datagram_batch& out) {
  std::byte* const data = memory->data();
  const std::uint32_t stride = prefix + max_frame_;
  std::uint32_t slot_begin = used;
  datagram_arrival* sender = nullptr;
  for (std::size_t i = 0; i < count; ++i, slot_begin += stride) {
    const datagram_slot& slot = slots_[i];
    if (slot.size == 0) {
      ++out.empty;
      continue;
    }
    const auto name = unix_address::name_in(slot.from, slot.from_length);
    if (name.empty()) {
      ++out.no_return_address;
      continue;
    }
    if (!sender || sender->from.name() != name || sender->sender != slot.sender)
      sender = &arrival_from(name, slot, memory, out);
    const std::byte* frame = data + slot_begin + prefix;
    if (slot.truncated) {
      ++sender->skipped.oversize;
      sender->skipped.bytes += slot.size;
    } else if (is_hello({frame, slot.size})) {
      sender->hello = true;
    } else if (slot.size < ethernet_header_size) {
      ++sender->skipped.runts;
      sender->skipped.bytes += slot.size;
    } else {
      const std::uint32_t at = slot.size <= largest_copied ? used : slot_begin;
      if (at != slot_begin)
        std::memmove(data + at + prefix, frame, slot.size);
      write_prefix(data + at, slot.size);
      used = at + prefix + slot.size;
      sender->frames.append(at, used, 1);
    }
  }
}

bool datagram_socket::is_hello(std::span<const std::byte> datagram) noexcept {
  return datagram.size() == hello.size() &&
         std::memcmp(datagram.data(), hello.data(), hello.size()) == 0;
}

bool datagram_socket::is_dead(const unix_address& peer) {
  return vmswitch::is_dead(SOCK_DGRAM, peer);
}

} // namespace vmswitch
