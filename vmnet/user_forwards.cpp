#include "vmnet/user_forwards.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <libslirp.h>

namespace vmswitch {

namespace {

int flags_of(const forward_listen& listen) {
  return (listen.protocol == forward_protocol::udp ? SLIRP_HOSTFWD_UDP : 0) |
         (is_ipv4(listen.address) ? 0 : SLIRP_HOSTFWD_V6ONLY);
}

int option_of(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : 0;
}

// The kinds may share an address, and so may what has been accepted.
bool is_forward(int fd, forward_protocol protocol) {
  return protocol == forward_protocol::tcp ? option_of(fd, SO_ACCEPTCONN) != 0
                                           : option_of(fd, SO_TYPE) == SOCK_DGRAM;
}

// libslirp does not tell which descriptor it has made, but lists all that it wants polled.
struct search {
  socket_address place;
  forward_protocol protocol;
  int found = -1;
  int listed = 0;

  static int look_at(int fd, int, void* opaque) {
    auto& self = *static_cast<search*>(opaque);
    if (self.found < 0 && is_forward(fd, self.protocol) && socket_address::of(fd) == self.place)
      self.found = fd;
    return self.listed++;
  }
};

} // namespace

void user_forwards::start(Slirp& slirp) {
  slirp_ = &slirp;
  for (auto& [listen, forward] : forwards_) {
    forward.with_libslirp = false;
    // It listened there before. If it cannot now, the next aim() says so.
    static_cast<void>(give(forward));
  }
}

result<void> user_forwards::open(const forward_rule& rule) {
  auto place = bind_forward(rule.listen);
  if (!place)
    return tl::unexpected{std::move(place.error())};
  forwards_.insert_or_assign(rule.listen, entry{rule, {}, std::move(*place), false});
  return {};
}

result<void> user_forwards::aim(const forward_listen& which, std::optional<ip_address> address) {
  const auto found = forwards_.find(which);
  if (found == forwards_.end())
    return fail("there is no forward " + to_string(which), ENOENT);
  auto& forward = found->second;
  const std::scoped_lock lock{library_};
  take(forward);
  forward.address = address;
  return give(forward);
}

void user_forwards::close(const forward_listen& which, std::function<void()> closed) {
  if (const auto found = forwards_.find(which); found != forwards_.end()) {
    const std::scoped_lock lock{library_};
    take(found->second);
    const auto gone = std::move(forwards_.extract(found).mapped());
    if (slirp_ != nullptr && which.protocol == forward_protocol::tcp)
      on_.has_gone(gone.rule, gone.led_to);
  }
  closed();
}

result<void> user_forwards::give(entry& forward) {
  const auto& listen = forward.rule.listen;
  const bool is_tcp = listen.protocol == forward_protocol::tcp;
  if (!forward.address || slirp_ == nullptr)
    return {};
  if (!is_tcp)
    for (const auto& [other_listen, other] : forwards_)
      if (other.with_libslirp && other_listen.protocol == listen.protocol &&
          other.address == forward.address && other.rule.to_port == forward.rule.to_port)
        return fail("the forward " + to_string(other.rule) + " leads to " +
                    to_string(*forward.address, forward.rule.to_port) +
                    " as well, and of UDP only one may: remove one of them");
  const socket_address place{listen.address, listen.port};
  const socket_address target{*forward.address, forward.rule.to_port};
  if (!is_tcp)
    forward.place.reset();
  if (::slirp_add_hostxfwd(slirp_, place.get(), place.size, target.get(), target.size,
                           flags_of(listen)) != 0) {
    const int code = errno;
    if (!is_tcp)
      if (auto again = bind_forward(listen))
        forward.place = std::move(*again);
    return cannot_listen(listen, code);
  }
  forward.with_libslirp = true;
  if (is_tcp && std::ranges::find(forward.led_to, *forward.address) == forward.led_to.end()) {
    if (forward.led_to.size() == most_led_to)
      forward.led_to.erase(forward.led_to.begin());
    forward.led_to.push_back(*forward.address);
  }
  search made{place, listen.protocol};
  std::uint32_t timeout = UINT32_MAX;
  ::slirp_pollfds_fill(slirp_, &timeout, search::look_at, &made);
  if (made.found >= 0) {
    ::fcntl(made.found, F_SETFL, O_NONBLOCK);
    if (is_tcp) {
      ::listen(made.found, SOMAXCONN); // libslirp lets one connection wait
      on_.listens(made.found);
    }
  }
  on_.changed();
  return {};
}

void user_forwards::take(entry& forward) {
  if (!forward.with_libslirp || slirp_ == nullptr)
    return;
  const auto& listen = forward.rule.listen;
  const socket_address place{listen.address, listen.port};
  ::slirp_remove_hostxfwd(slirp_, place.get(), place.size, flags_of(listen));
  forward.with_libslirp = false;
  if (!forward.place)
    if (auto again = bind_forward(listen))
      forward.place = std::move(*again);
  on_.changed();
}

} // namespace vmswitch
