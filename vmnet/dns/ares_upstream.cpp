#include "vmnet/dns/ares_upstream.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <ares.h>
#include <sys/time.h>

#include "vmnet/dns/ares_sockets.hpp"
#include "vmnet/dns/dns_message.hpp"

namespace vmswitch {

namespace {

// Once for the process, and never taken back: threads may still use it.
bool library_is_ready() {
  static const bool ready = ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
  return ready;
}

std::string csv_of(const std::vector<dns_endpoint>& servers) {
  std::string text;
  for (const auto& one : servers) {
    const auto bare = one.address.substr(0, one.address.find('%'));
    text += (text.empty() ? "" : ",") + (one.is_ipv6() ? "[" + bare + "]" : bare) + ":" +
            std::to_string(one.port);
  }
  return text;
}

} // namespace

struct ares_upstream::channel {
  ares_upstream* owner = nullptr;
  ares_channel handle = nullptr;
  ares_scopes scopes;
  std::map<int, unsigned> watched; // as the kernel knows it
  std::size_t asking = 0;
  std::size_t servers = 0;

  ~channel() {
    if (handle != nullptr)
      ares_destroy(handle);
  }
};

struct ares_upstream::request {
  channel* asked;
  std::uint32_t number;
};

ares_upstream::ares_upstream(ares_settings settings, poll_set& polls)
    : settings_{std::move(settings)}, polls_{polls}, host_{settings_.resolv_conf} {}

ares_upstream::~ares_upstream() = default;

// c-ares tells about each socket before it closes it.
void ares_upstream::on_socket(void* self, int fd, int readable, int writable) {
  auto& one = *static_cast<channel*>(self);
  const unsigned wanted = (readable != 0 ? unsigned{poll_set::readable} : 0) |
                          (writable != 0 ? unsigned{poll_set::writable} : 0);
  const auto known = one.watched.find(fd);
  const unsigned before = known == one.watched.end() ? 0 : known->second;
  if (!one.owner->polls_.change(fd, before, wanted) && wanted != 0)
    return; // out of kernel memory: the question times out
  if (wanted == 0)
    one.watched.erase(fd);
  else
    one.watched[fd] = wanted;
}

void ares_upstream::on_reply(void* self, int status, int timeouts, unsigned char* message,
                             int size) {
  const std::unique_ptr<request> done{static_cast<request*>(self)};
  auto& one = *done->asked;
  auto& owner = *one.owner;
  --one.asking;
  --owner.asking_;
  if (status == ARES_EDESTRUCTION)
    return; // nobody waits any more
  answer made{done->number, {}};
  // Other statuses come with an answer as well: no such name, no data.
  if (message != nullptr && size >= static_cast<int>(dns_header_size)) {
    const auto octets = std::as_bytes(std::span{message, static_cast<std::size_t>(size)});
    made.message.emplace(octets.begin(), octets.end());
    if (timeouts > 0 && one.servers > 1 && &one == owner.channels_.back().get())
      owner.silent_ = static_cast<std::size_t>(timeouts) % one.servers;
  }
  owner.answers_.push_back(std::move(made));
}

void ares_upstream::choose_servers(clock::time_point now) {
  auto wanted = servers_;
  bool is_new = servers_.empty();
  if (settings_.servers) {
    if (is_new)
      wanted = *settings_.servers;
  } else if (host_.refresh(now)) {
    wanted = host_.servers();
    is_new = true;
  }
  if (is_new) {
    reordered_.reset();
    changed_ = true;
  } else if (silent_ > 0) {
    // Not that of ranges, which clang 14 cannot read.
    std::rotate(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(silent_),
                wanted.end());
    reordered_ = now;
  } else if (reordered_ && now - *reordered_ >= memory) {
    wanted = settings_.servers ? *settings_.servers : host_.servers();
    reordered_.reset();
  }
  silent_ = 0;
  if (wanted == servers_ && !channels_.empty())
    return;
  servers_ = std::move(wanted);
  open_channel();
}

void ares_upstream::open_channel() {
  auto made = std::make_unique<channel>();
  made->owner = this;
  made->servers = servers_.size();
  ares_options options{};
  options.flags = ARES_FLAG_EDNS | ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  options.timeout = static_cast<int>(settings_.patience.count());
  options.tries = settings_.rounds;
  options.ednspsz = edns_udp_size;
  options.sock_state_cb = [](void* self, ares_socket_t fd, int readable, int writable) {
    on_socket(self, fd, readable, writable);
  };
  options.sock_state_cb_data = made.get();
  options.lookups = const_cast<char*>("b"); // no hosts file
  const int given = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
                    ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS;
  if (library_is_ready() && ares_init_options(&made->handle, &options, given) == ARES_SUCCESS) {
    made->scopes = ares_scopes{servers_};
    made->scopes.apply_to(made->handle);
    if (ares_set_servers_ports_csv(made->handle, csv_of(servers_).c_str()) != ARES_SUCCESS) {
      ares_destroy(made->handle);
      made->handle = nullptr;
    }
  }
  channels_.push_back(std::move(made));
  drop_retired();
}

void ares_upstream::drop_retired() {
  while (channels_.size() > 1) {
    const auto idle = std::find_if(channels_.begin(), std::prev(channels_.end()),
                                   [](const auto& one) { return one->asking == 0; });
    if (idle == std::prev(channels_.end()))
      return;
    channels_.erase(idle);
  }
}

void ares_upstream::ask(std::uint32_t number, const dns_bytes& question, clock::time_point now) {
  choose_servers(now);
  auto& one = *channels_.back();
  if (one.handle == nullptr) {
    answers_.push_back({number, {}});
    return;
  }
  ++one.asking;
  ++asking_;
  ares_send(one.handle, reinterpret_cast<const unsigned char*>(question.data()),
            static_cast<int>(question.size()), on_reply, new request{&one, number});
}

void ares_upstream::process(const poll_set::ready& ready) {
  for (const auto& one : channels_) {
    if (!one->watched.contains(ready.fd))
      continue;
    constexpr unsigned ended = poll_set::error | poll_set::hangup;
    const bool readable = (ready.events & (poll_set::readable | ended)) != 0;
    const bool writable = (ready.events & (poll_set::writable | ended)) != 0;
    ares_process_fd(one->handle, readable ? ready.fd : ARES_SOCKET_BAD,
                    writable ? ready.fd : ARES_SOCKET_BAD);
    return;
  }
}

void ares_upstream::on_time() {
  for (const auto& one : channels_)
    if (one->handle != nullptr)
      ares_process_fd(one->handle, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

std::optional<ares_upstream::clock::time_point> ares_upstream::due(clock::time_point now) const {
  std::optional<clock::time_point> first;
  for (const auto& one : channels_) {
    timeval left{};
    if (one->asking == 0 || ares_timeout(one->handle, nullptr, &left) == nullptr)
      continue;
    // One more, since c-ares compares times of its own, which it cuts.
    const auto when = now + std::chrono::seconds{left.tv_sec} +
                      std::chrono::microseconds{left.tv_usec} + std::chrono::milliseconds{1};
    first = first ? std::min(*first, when) : when;
  }
  return first;
}

std::vector<ares_upstream::answer> ares_upstream::take_answers() {
  drop_retired();
  return std::exchange(answers_, {});
}

} // namespace vmswitch
