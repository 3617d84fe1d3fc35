#include "vmnet/user_host.hpp"

#include <algorithm>
#include <mutex>

#include <sys/resource.h>

#include "vmnet/forged_reset.hpp"
#include "vmnet/slirp_terms.hpp"
#include "vmnet/user_addresses.hpp"
#include "vmnet/user_endings.hpp"

namespace vmswitch {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using socket_kind = user_filter::socket_kind;

constexpr int turns_per_call = 4;
constexpr std::size_t sockets_per_turn = 16; // each may bring 64 KiB
constexpr std::uint32_t nothing_due = 1000;  // the time-out in ms that libslirp gives when idle
constexpr milliseconds clock_tolerance{100};
constexpr milliseconds accept_pause{200};

std::mutex& library_lock() {
  static std::mutex lock;
  return lock;
}

/// Where libslirp's time begins: shortly before the first use in this process, because it counts
/// milliseconds in 32 bits and takes 0 for "never".
steady_clock::time_point library_epoch() {
  static const auto epoch = steady_clock::now() - std::chrono::seconds{1};
  return epoch;
}

std::size_t most_descriptors() {
  rlimit descriptors{};
  return ::getrlimit(RLIMIT_NOFILE, &descriptors) == 0 ? descriptors.rlim_cur : RLIM_INFINITY;
}

} // namespace

struct user_host::running {
  running(frame_sink& out, poll_set set, const host_config& config, clock::time_point (*time)())
      : sink{out}, now{time}, polls{std::move(set)}, filter{config}, endings{config} {}
  ~running() {
    if (slirp != nullptr)
      slirp_cleanup(slirp);
  }

  frame_sink& sink;
  clock::time_point (*const now)();
  poll_set polls;
  user_sockets sockets{polls};
  const user_filter filter;
  user_fragments fragments;
  user_limits limits{most_descriptors()};
  std::array<poll_set::ready, sockets_per_turn> ready;
  Slirp* slirp = nullptr;
  std::optional<milliseconds> advertisement; // when the next one is due, on libslirp's clock
  clock::time_point armed = clock::time_point::max();
  milliseconds clock_set{0};
  frame_tally refused; // that no call of write has told of yet
  clock::time_point accept_again = clock::time_point::min();
  user_endings endings;

  nanoseconds library_time() const {
    const auto epoch = library_epoch();
    return now() - epoch;
  }
  milliseconds library_milliseconds() const {
    return std::chrono::duration_cast<milliseconds>(library_time());
  }
  user_limits::count open(socket_kind kind, std::uint64_t owner) const {
    return {sockets.open(kind), sockets.open_of(owner, kind)};
  }
  void wake_by(clock::time_point when) {
    if (when < armed) {
      armed = when;
      polls.wake_at(when);
    }
  }
};

struct user_host::callbacks {
  static user_host::running& self(void* opaque) {
    return *static_cast<user_host::running*>(opaque);
  }
  static ssize_t send_packet(const void* frame, std::size_t length, void* opaque) {
    self(opaque).sink.deliver({static_cast<const std::byte*>(frame), length});
    return static_cast<ssize_t>(length); // a frame that the sink drops has been counted there
  }
  static void guest_error(const char*, void*) {} // a VM must not be able to fill our log
  static std::int64_t clock_get_ns(void* opaque) { return self(opaque).library_time().count(); }
  static void* timer_new(SlirpTimerId, void*, void* opaque) { return &self(opaque).advertisement; }
  static void timer_free(void* timer, void*) {
    static_cast<std::optional<milliseconds>*>(timer)->reset();
  }
  static void timer_mod(void* timer, std::int64_t due, void*) {
    static_cast<std::optional<milliseconds>*>(timer)->emplace(due);
  }
  static void opened(int fd, void* opaque) { self(opaque).sockets.opened(fd); }
  static void closed(int fd, void* opaque) { self(opaque).sockets.closed(fd); }
  static void notify(void*) {} // every call into libslirp is followed by a look at its interest
  static int add_poll(int fd, int events, void* opaque) {
    return self(opaque).sockets.add(fd, from_slirp_events(events));
  }
  static int ready_events(int position, void* opaque) {
    return to_slirp_events(self(opaque).sockets.ready_at(position));
  }

  static const SlirpCb* table() {
    static const SlirpCb entries = [] {
      SlirpCb made{};
      made.send_packet = send_packet;
      made.guest_error = guest_error;
      made.clock_get_ns = clock_get_ns;
      made.timer_free = timer_free;
      made.timer_mod = timer_mod;
      made.register_poll_fd = opened;
      made.unregister_poll_fd = closed;
      made.notify = notify;
      made.timer_new_opaque = timer_new;
      return made;
    }();
    return &entries;
  }
};

user_host::user_host(const host_config& config, clock::time_point (*now)())
    : config_{config}, now_{now}, forwards_{library_lock(),
                                            {[this](int fd) { running_->sockets.listens(fd); },
                                             [this](const forward_rule& rule,
                                                    std::span<const ip_address> led_to) {
                                               end_connections(rule, led_to);
                                             },
                                             [this] { refresh(); }}} {}

user_host::~user_host() {
  stop();
}

result<void> user_host::start(frame_sink& out) {
  if (running_)
    return fail("user-mode NAT has been started already");
  if (auto valid = check_host_config(config_); !valid)
    return valid;
  auto polls = poll_set::open();
  if (!polls)
    return tl::unexpected{std::move(polls.error())};

  const std::scoped_lock lock{library_lock()};
  auto starting = std::make_unique<running>(out, std::move(*polls), config_, now_);
  const SlirpConfig config = to_slirp_config(config_);
  starting->slirp = slirp_new(&config, callbacks::table(), starting.get());
  if (starting->slirp == nullptr)
    return fail("libslirp " + std::string{slirp_version_string()} +
                " refuses this configuration; 4.7 or later is needed");
  running_ = std::move(starting);
  forwards_.start(*running_->slirp);
  set_clock();
  refresh();
  return {};
}

void user_host::stop() noexcept {
  if (!running_)
    return;
  const std::scoped_lock lock{library_lock()};
  forwards_.stop();
  running_.reset();
}

int user_host::fd() const noexcept {
  return running_ ? running_->polls.fd() : -1;
}

result<bool> user_host::process() {
  if (!running_)
    return false;
  const std::scoped_lock lock{library_lock()};
  for (int i = 0; i < turns_per_call; ++i) {
    if (!running_->sink.has_room())
      return true;
    if (!turn())
      return false;
  }
  return true;
}

frame_tally user_host::write(const burst& frames) {
  if (!running_)
    return {frames.frames(), frames.frame_bytes()};
  const std::scoped_lock lock{library_lock()};
  set_clock();
  auto& self = *running_;
  self.fragments.expire(self.clock_set);
  bool has_taken = false;
  frames.for_each_frame([&](std::span<const std::byte> frame) {
    has_taken |= take(frame, self.filter.judge(frame), {1, frame.size()});
  });
  if (has_taken)
    work();
  self.refused += self.fragments.take_dropped();
  const frame_tally told{std::min<std::uint64_t>(self.refused.frames, frames.frames()),
                         std::min<std::uint64_t>(self.refused.bytes, frames.frame_bytes())};
  self.refused.frames -= told.frames;
  self.refused.bytes -= told.bytes;
  return told;
}

// A frame, which has come as this tally of them. False if there is nothing to work on.
bool user_host::take(std::span<const std::byte> frame, const user_filter::judgement& judged,
                     const frame_tally& came_as) {
  auto& self = *running_;
  switch (judged.what) {
  case user_filter::verdict::ignore:
    return false;
  case user_filter::verdict::fragment: {
    const auto whole = self.fragments.add(frame, self.clock_set);
    return !whole.frame.empty() &&
           take(whole.frame, self.filter.judge_whole(whole.frame), whole.came_as);
  }
  case user_filter::verdict::pass:
    if (const auto sender = mac_address::read(frame.data() + 6); may_open(judged, sender))
      self.sockets.expect(judged.opens, judged.flow, sender.integer());
    else
      break;
    slirp_input(self.slirp, reinterpret_cast<const std::uint8_t*>(frame.data()),
                static_cast<int>(frame.size()));
    return true;
  case user_filter::verdict::refuse:
    break;
  }
  self.refused += came_as;
  return false;
}

void user_host::work() {
  for (int i = 0; i < turns_per_call && running_->sink.has_room(); ++i)
    if (!turn())
      return;
  refresh(); // the rest is lost to nobody: what has become ready has made fd() readable anew
}

bool user_host::turn() {
  end_overdue();
  refresh();
  auto& self = *running_;
  const auto got = self.polls.collect(self.ready);
  if (got.timer) {
    self.armed = clock::time_point::max();
    if (self.advertisement && *self.advertisement <= self.library_milliseconds())
      slirp_handle_timer(self.slirp, SLIRP_TIMER_RA, nullptr);
  }
  if (got.count == 0 && !got.timer)
    return false;
  self.sockets.set_ready({self.ready.data(), got.count});
  // What opens now has come in through a forward.
  self.sockets.expect(socket_kind::tcp, 0, user_sockets::from_forwards);
  const auto opened = self.sockets.ever_opened();
  slirp_pollfds_poll(self.slirp, 0, callbacks::ready_events, &self);
  if (self.sockets.has_caller() && self.sockets.ever_opened() == opened) {
    self.accept_again = self.now() + accept_pause;
    self.wake_by(self.accept_again);
  }
  self.sockets.clear_ready();
  self.clock_set = self.library_milliseconds();
  return true;
}

void user_host::refresh() {
  auto& self = *running_;
  std::uint32_t timeout = UINT32_MAX;
  self.sockets.accept_more(
      self.limits.allows(socket_kind::tcp,
                         self.open(socket_kind::tcp, user_sockets::from_forwards)) &&
      self.now() >= self.accept_again);
  self.sockets.begin();
  slirp_pollfds_fill(self.slirp, &timeout, callbacks::add_poll, &self);
  self.sockets.commit();
  if (timeout < nothing_due && open_sockets() > 0) // beside those that wait for forwards
    self.wake_by(self.now() + milliseconds{timeout});
  if (self.advertisement)
    self.wake_by(library_epoch() + *self.advertisement);
  if (const auto due = self.endings.due())
    self.wake_by(*due);
}

void user_host::end_connections(const forward_rule& through, std::span<const ip_address> led_to) {
  auto& self = *running_;
  self.sockets.for_each_of(user_sockets::from_forwards, [&](int fd) {
    if (is_bound_to(fd, through.listen))
      self.endings.begin(fd, self.sockets.serial_of(fd), led_to, through.to_port, self.now());
  });
  if (const auto due = self.endings.due())
    self.wake_by(*due);
}

void user_host::end_overdue() {
  auto& self = *running_;
  while (const auto ending = self.endings.take_overdue(self.now()))
    if (self.sockets.serial_of(ending->fd) == ending->serial)
      for (const auto& frame : forged_resets(ending->from_vm))
        slirp_input(self.slirp, reinterpret_cast<const std::uint8_t*>(frame.data()),
                    static_cast<int>(frame.size()));
}

void user_host::set_clock() {
  auto& self = *running_;
  const auto now = self.library_milliseconds();
  if (now - self.clock_set < clock_tolerance)
    return;
  constexpr int sockets_not_looked_at = 1;
  slirp_pollfds_poll(self.slirp, sockets_not_looked_at, callbacks::ready_events, &self);
  self.clock_set = now;
}

bool user_host::may_open(const user_filter::judgement& judged, mac_address sender) {
  auto& self = *running_;
  const auto kind = judged.opens;
  if (kind == socket_kind::none || self.sockets.knows_flow(judged.flow))
    return true;
  const auto open = self.open(kind, sender.integer());
  if (self.limits.allows(kind, open))
    return true;
  if (auto text = self.limits.refused(kind, sender, open, self.clock_set); text && tell_)
    tell_({service_note::level::warning, "nat limit", std::move(*text)});
  return false;
}

mac_address user_host::address() const noexcept {
  return user_mac_for(config_.gateway);
}

std::string user_host::describe() const {
  std::string text =
      "user-mode NAT, " + to_string(config_.subnet) + ", gateway " + to_string(config_.gateway);
  if (config_.dns_domain.empty())
    text += ", name server " + to_string(nameserver_for(config_));
  text += has_ipv6(config_) ? ", IPv6 " + to_string(user_prefix_for(config_)) + "/64"
          : config_.ipv6    ? ", no IPv6 (the mtu is below 1280)"
                            : ", no IPv6";
  if (!config_.host_loopback)
    text += ", host loopback closed";
  return text;
}

std::size_t user_host::open_sockets() const noexcept {
  if (!running_)
    return 0;
  const auto& sockets = running_->sockets;
  return sockets.open(socket_kind::none) + sockets.open(socket_kind::tcp) +
         sockets.open(socket_kind::udp) + sockets.open(socket_kind::icmp);
}

} // namespace vmswitch
