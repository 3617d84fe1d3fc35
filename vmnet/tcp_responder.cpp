#include "vmnet/tcp_responder.hpp"

#include <algorithm>
#include <utility>

namespace vmswitch {

namespace {

using bytes = std::span<const std::byte>;

constexpr unsigned fin = 1, syn = 2, rst = 4, psh = 8, ack = 16;
constexpr std::size_t header_size = 20, mss_option_size = 4;
constexpr std::size_t default_mss = 536, least_mss = 216; // RFC 9293, 3.7.1
constexpr std::size_t congestion = 64 << 10;              // of output

std::uint8_t u8(bytes from, std::size_t at) {
  return std::to_integer<std::uint8_t>(from[at]);
}
std::uint16_t u16(bytes from, std::size_t at) {
  return static_cast<std::uint16_t>(u8(from, at) << 8 | u8(from, at + 1));
}
std::uint32_t u32(bytes from, std::size_t at) {
  return std::uint32_t{u16(from, at)} << 16 | u16(from, at + 2);
}
void put(std::vector<std::byte>& to, std::uint32_t value, int octets) {
  for (int shift = 8 * (octets - 1); shift >= 0; shift -= 8)
    to.push_back(static_cast<std::byte>(value >> shift));
}

// How far `to` is ahead of `from` in sequence space (RFC 9293, 3.4); negative: behind.
std::int32_t distance(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::int32_t>(to - from);
}

std::size_t mss_in(bytes options) {
  while (!options.empty() && u8(options, 0) != 0) {
    if (u8(options, 0) == 1) {
      options = options.subspan(1);
      continue;
    }
    if (options.size() < 2 || u8(options, 1) < 2 || u8(options, 1) > options.size())
      break;
    if (u8(options, 0) == 2 && u8(options, 1) == mss_option_size)
      return u16(options, 2);
    options = options.subspan(u8(options, 1));
  }
  return default_mss;
}

std::vector<std::byte> header(std::uint32_t sequence, std::uint32_t acknowledged, unsigned flags,
                              std::size_t window, std::size_t size = header_size) {
  std::vector<std::byte> made;
  put(made, 0, 4); // ports and checksum are put in later
  put(made, sequence, 4);
  put(made, acknowledged, 4);
  put(made, static_cast<std::uint32_t>(size / 4 << 4), 1);
  put(made, flags, 1);
  put(made, static_cast<std::uint32_t>(window), 2);
  put(made, 0, 4);
  return made;
}

} // namespace

struct tcp_responder::segment {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  unsigned flags = 0;
  std::uint16_t window = 0;
  std::size_t mss = default_mss;
  bytes data;

  bool has(unsigned flag) const { return (flags & flag) != 0; }
  /// What it takes of sequence space.
  std::uint32_t length() const {
    return static_cast<std::uint32_t>(data.size()) + has(syn) + has(fin);
  }
};

tcp_responder::tcp_responder(std::size_t mtu, std::uint64_t seed, callbacks to)
    : mtu_{mtu}, random_{seed}, to_{std::move(to)} {}

std::size_t tcp_responder::largest_segment(bool is_ipv6) const {
  return mtu_ - ip_header_size(is_ipv6) - header_size;
}

void tcp_responder::receive(const ip_packet& packet, time_point now) {
  const auto whole = packet.content;
  const std::size_t size = std::size_t{u8(whole, 12)} / 16 * 4;
  if (size < header_size || size > whole.size())
    return;
  segment got;
  got.sequence = u32(whole, 4);
  got.acknowledged = u32(whole, 8);
  got.flags = u8(whole, 13);
  got.window = u16(whole, 14);
  got.data = whole.subspan(size);
  const auto known = by_path_.find(packet.path);
  if (known != by_path_.end()) {
    const auto which = known->second;
    process(which, all_.at(which), got, now);
    return;
  }
  if (got.has(rst))
    return;
  if ((got.flags & (syn | ack | fin)) != syn) {
    send_reset(packet, got);
    return;
  }
  got.mss = mss_in(whole.subspan(header_size, size - header_size));
  open(packet, got, now);
}

void tcp_responder::open(const ip_packet& packet, const segment& got, time_point now) {
  auto& of_vm = of_vm_[packet.path.peer_mac];
  if (all_.size() >= most_connections || of_vm >= most_of_one_vm) {
    ++refused_;
    send_reset(packet, got);
    if (of_vm == 0)
      of_vm_.erase(packet.path.peer_mac);
    return;
  }
  ++of_vm;
  auto& one = all_[++last_];
  by_path_[packet.path] = last_;
  one.path = packet.path;
  one.acknowledged = static_cast<std::uint32_t>(random_());
  one.next = one.furthest = one.acknowledged + 1;
  one.expected = got.sequence + 1; // data that may be with it come again
  one.peer_window = got.window;
  one.segment_size =
      std::min(std::max(got.mss, least_mss), largest_segment(packet.path.own.is_ipv6));
  one.idle_at = now + patience;
  send_opening(one, now);
}

void tcp_responder::send_opening(state& one, time_point now) {
  auto made =
      header(one.acknowledged, one.expected, syn | ack, window, header_size + mss_option_size);
  put(made, 0x0204, 2);
  put(made, static_cast<std::uint32_t>(largest_segment(one.path.own.is_ipv6)), 2);
  to_.send(make_tcp_frame(one.path, made));
  one.resend_at = now + first_resend * (1 << one.resends);
}

void tcp_responder::process(connection which, state& one, const segment& got, time_point now) {
  if (got.has(rst)) { // only where it is expected, since others may guess (RFC 5961, 3.2)
    if (got.sequence == one.expected)
      forget(which);
    return;
  }
  if (got.has(syn)) {
    if (!one.is_open && got.sequence + 1 == one.expected)
      send_opening(one, now);
    else
      send(one, one.next, {}, ack);
    return;
  }
  if (!got.has(ack) || !take_acknowledgement(one, got) || !one.is_open)
    return;
  one.idle_at = now + patience;
  const bool had_ended = one.peer_ended;
  take_data(one, got);
  show_input(which, one);
  if (one.peer_ended && !had_ended && !one.is_broken)
    to_.peer_ended(which);
  flush(one, now);
  settle(which, one);
}

bool tcp_responder::take_acknowledgement(state& one, const segment& got) {
  auto gained = distance(one.acknowledged, got.acknowledged);
  if (distance(one.furthest, got.acknowledged) > 0) {
    send(one, one.next, {}, ack);
    return false;
  }
  if (gained < 0)
    return one.is_open; // an old one
  one.peer_window = got.window;
  if (gained == 0)
    return true;
  if (!one.is_open) {
    one.is_open = true;
    ++one.acknowledged;
    --gained;
  }
  const auto taken = std::min<std::size_t>(static_cast<std::size_t>(gained), one.output.size());
  one.output.erase(one.output.begin(), one.output.begin() + static_cast<std::ptrdiff_t>(taken));
  one.end_is_acknowledged = one.end_is_acknowledged || static_cast<std::size_t>(gained) > taken;
  one.acknowledged += static_cast<std::uint32_t>(gained);
  if (distance(one.next, one.acknowledged) > 0)
    one.next = one.acknowledged;
  one.resends = 0;
  one.resend_at.reset();
  return true;
}

void tcp_responder::take_data(state& one, const segment& got) {
  const auto known = distance(got.sequence, one.expected);
  one.must_acknowledge = one.must_acknowledge || got.length() > 0 || known != 0;
  if (known < 0 || static_cast<std::size_t>(known) > got.data.size() || one.peer_ended)
    return;
  const auto fresh = got.data.subspan(static_cast<std::size_t>(known));
  const auto taken = std::min(fresh.size(), window - std::min(window, one.input.size()));
  one.input.insert(one.input.end(), fresh.begin(),
                   fresh.begin() + static_cast<std::ptrdiff_t>(taken));
  one.expected += static_cast<std::uint32_t>(taken);
  one.announced -= std::min(one.announced, taken);
  if (got.has(fin) && taken == fresh.size()) {
    ++one.expected;
    one.peer_ended = true;
  }
}

void tcp_responder::show_input(connection which, state& one) {
  if (!one.input.empty() && !one.is_ended && !to_.received(which, one.input))
    one.is_broken = true;
  // A window that has opened again is told.
  if (window - std::min(window, one.input.size()) > one.announced + window / 2)
    one.must_acknowledge = true;
}

void tcp_responder::flush(state& one, time_point now) {
  if (!one.is_open || one.is_broken)
    return;
  const auto sent = [&] { return static_cast<std::size_t>(one.next - one.acknowledged); };
  while (sent() < one.output.size() && sent() < one.peer_window) {
    const auto size =
        std::min({one.segment_size, one.output.size() - sent(), one.peer_window - sent()});
    send(one, one.next, bytes{one.output}.subspan(sent(), size), ack | psh);
    one.next += static_cast<std::uint32_t>(size);
  }
  if (one.is_ended && !one.end_is_acknowledged && sent() == one.output.size()) {
    send(one, one.next, {}, ack | fin);
    ++one.next;
  }
  if (distance(one.furthest, one.next) > 0)
    one.furthest = one.next;
  if (one.must_acknowledge)
    send(one, one.next, {}, ack);
  const bool waits = one.next != one.acknowledged || !one.output.empty();
  if (waits && !one.resend_at)
    one.resend_at = now + first_resend * (1 << one.resends);
  else if (!waits)
    one.resend_at.reset();
}

// From the first byte that did not arrive; into a closed window one byte, to hear how wide it is.
void tcp_responder::resend(state& one, time_point now) {
  one.resend_at.reset();
  if (++one.resends > most_resends) {
    one.is_broken = true;
    return;
  }
  if (!one.is_open) {
    send_opening(one, now);
    return;
  }
  one.next = one.acknowledged;
  if (!one.output.empty() && one.peer_window == 0) {
    send(one, one.next, bytes{one.output}.first(1), ack | psh);
    if (one.furthest == one.next)
      ++one.furthest;
  }
  flush(one, now);
}

void tcp_responder::send(state& one, std::uint32_t from, bytes data, unsigned flags) {
  one.must_acknowledge = false;
  one.announced = window - std::min(window, one.input.size());
  auto made = header(from, one.expected, flags, one.announced);
  made.insert(made.end(), data.begin(), data.end());
  to_.send(make_tcp_frame(one.path, made));
}

// RFC 9293, 3.5.2.
void tcp_responder::send_reset(const ip_packet& packet, const segment& got) {
  to_.send(make_tcp_frame(packet.path, got.has(ack)
                                           ? header(got.acknowledged, 0, rst, 0)
                                           : header(0, got.sequence + got.length(), rst | ack, 0)));
}

void tcp_responder::write(connection to, bytes data, time_point now) {
  const auto found = all_.find(to);
  if (found == all_.end() || found->second.is_ended || found->second.is_broken)
    return;
  auto& one = found->second;
  if (one.output.size() + data.size() > largest_output) {
    one.is_broken = true;
    one.idle_at = now; // not at once, since we may be in a callback of it
    return;
  }
  one.output.insert(one.output.end(), data.begin(), data.end());
  one.idle_at = now + patience;
  flush(one, now);
}

void tcp_responder::end(connection which, time_point now) {
  const auto found = all_.find(which);
  if (found == all_.end() || std::exchange(found->second.is_ended, true))
    return;
  flush(found->second, now);
}

const ip_path* tcp_responder::path_of(connection which) const {
  const auto found = all_.find(which);
  return found == all_.end() ? nullptr : &found->second.path;
}

bool tcp_responder::is_congested(connection which) const {
  const auto found = all_.find(which);
  return found != all_.end() && found->second.output.size() > congestion;
}

void tcp_responder::resume(connection which, time_point now) {
  const auto found = all_.find(which);
  if (found == all_.end())
    return;
  show_input(which, found->second);
  flush(found->second, now);
  settle(which, found->second);
}

bool tcp_responder::settle(connection which, state& one) {
  const bool is_over = one.is_open && one.peer_ended && one.end_is_acknowledged;
  if (!one.is_broken && !is_over)
    return false;
  if (one.is_broken)
    send(one, one.next, {}, rst | ack);
  forget(which);
  return true;
}

void tcp_responder::forget(connection which) {
  const auto found = all_.find(which);
  const auto vm = found->second.path.peer_mac;
  by_path_.erase(found->second.path);
  all_.erase(found);
  if (const auto count = of_vm_.find(vm); --count->second == 0)
    of_vm_.erase(count);
  to_.gone(which);
}

std::optional<tcp_responder::time_point> tcp_responder::due() const {
  std::optional<time_point> first;
  for (const auto& [which, one] : all_) {
    const auto when = one.resend_at ? std::min(*one.resend_at, one.idle_at) : one.idle_at;
    first = first ? std::min(*first, when) : when;
  }
  return first;
}

void tcp_responder::on_time(time_point now) {
  std::vector<connection> due;
  for (const auto& [which, one] : all_)
    if (one.idle_at <= now || (one.resend_at && *one.resend_at <= now))
      due.push_back(which);
  for (const auto which : due) {
    const auto found = all_.find(which);
    if (found == all_.end())
      continue;
    auto& one = found->second;
    if (one.idle_at <= now) {
      one.is_broken = one.is_broken || one.is_ended || !one.is_open;
      one.idle_at = now + patience;
      end(which, now);
    } else {
      resend(one, now);
    }
    settle(which, one);
  }
}

} // namespace vmswitch
