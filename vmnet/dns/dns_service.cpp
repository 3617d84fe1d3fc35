#include "vmnet/dns/dns_service.hpp"

#include <utility>

#include "transport/frame/ethernet.hpp"

namespace vmswitch {

namespace {

using level = service_note::level;

constexpr unsigned worrying_failures = 3; // in a row; single names fail for reasons of their own
constexpr std::chrono::seconds note_interval{10};

ares_settings with_servers(ares_settings settings,
                           std::optional<std::vector<dns_endpoint>> servers) {
  settings.servers = std::move(servers);
  return settings;
}

} // namespace

dns_service::dns_service(dns_setup setup, poll_set& polls, dns_surroundings around)
    : addresses_{std::move(setup.addresses)}, mtu_{setup.mtu}, around_{std::move(around)},
      server_{setup.settings, [this](const dns_peer& peer,
                                     dns_bytes message) { answer(peer, std::move(message)); }},
      upstream_{with_servers(std::move(setup.upstream), std::move(setup.settings.upstream)), polls},
      tcp_{setup.mtu, setup.seed, tcp_callbacks()} {}

tcp_responder::callbacks dns_service::tcp_callbacks() {
  using connection = tcp_responder::connection;
  return {
      .received = [this](connection from,
                         std::vector<std::byte>& input) { return take_queries(from, input); },
      .peer_ended =
          [this](connection which) {
            streams_[which].peer_ended = true;
            end_if_done(which);
          },
      .gone = [this](connection which) { streams_.erase(which); },
      .send = [this](std::span<const std::byte> frame) { around_.send(frame); },
  };
}

bool dns_service::is_to_us(std::span<const std::byte> frame) const noexcept {
  const auto mac = mac_address::read(frame.data());
  if (std::ranges::find(around_.macs, mac) == around_.macs.end())
    return false;
  const bool is_ipv6 = frame[12] == std::byte{0x86};
  const auto later_fragment = [&] {
    return (std::to_integer<unsigned>(frame[20]) & 0x1f) != 0 || frame[21] != std::byte{0};
  };
  if (!is_ipv6 && later_fragment())
    return false;
  const auto destination = frame.subspan(ethernet_header_size + (is_ipv6 ? 24 : 16));
  return std::ranges::any_of(addresses_, [&](const packet_address& one) {
    return one.is_ipv6 == is_ipv6 &&
           std::equal(
               one.octets.begin(), one.octets.begin() + (is_ipv6 ? 16 : 4), destination.begin(),
               [](std::uint8_t octet, std::byte there) { return std::byte{octet} == there; });
  });
}

void dns_service::receive(std::span<const std::byte> frame, clock::time_point now) {
  const auto packet = parse_ip_packet(frame);
  if (!packet)
    return;
  now_ = now;
  if (packet->protocol == protocol_of_udp) {
    constexpr std::size_t udp_header = 8;
    const auto limit = mtu_ - ip_header_size(packet->path.own.is_ipv6) - udp_header;
    server_.receive({packet->path, {}, limit}, packet->content, around_.leases(), now);
  } else {
    tcp_.receive(*packet, now);
  }
  pump();
}

bool dns_service::take_queries(tcp_responder::connection from, std::vector<std::byte>& input) {
  auto& one = streams_[from];
  std::size_t at = 0;
  bool is_right = true;
  while (input.size() - at >= 2 && one.open < most_open_queries && !tcp_.is_congested(from)) {
    const std::size_t size = dns_u16(input, at);
    is_right = size >= dns_header_size && size <= largest_dns_query;
    if (!is_right || input.size() - at - 2 < size)
      break;
    ++one.open;
    const dns_peer peer{*tcp_.path_of(from), from};
    if (!server_.receive(peer, std::span{input}.subspan(at + 2, size), around_.leases(), now_))
      --one.open;
    at += 2 + size;
  }
  input.erase(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(at));
  one.rest = input.size();
  return is_right;
}

void dns_service::answer(const dns_peer& peer, dns_bytes message) {
  if (!peer.connection) {
    around_.send(make_udp_frame(peer.path, message));
    return;
  }
  dns_bytes framed;
  framed.reserve(2 + message.size());
  add_u16(framed, static_cast<unsigned>(message.size()));
  framed.insert(framed.end(), message.begin(), message.end());
  tcp_.write(*peer.connection, framed, now_);
  answered(*peer.connection);
}

void dns_service::answered(tcp_responder::connection to) {
  const auto found = streams_.find(to);
  if (found == streams_.end())
    return;
  --found->second.open;
  resumable_.push_back(to);
}

// What waits for others is taken first; what is not whole now will never be.
void dns_service::end_if_done(tcp_responder::connection which) {
  const auto found = streams_.find(which);
  if (found != streams_.end() && found->second.peer_ended && found->second.open == 0 &&
      (found->second.rest == 0 || !tcp_.is_congested(which)))
    tcp_.end(which, now_);
}

void dns_service::process(const poll_set::ready& ready, clock::time_point now) {
  now_ = now;
  upstream_.process(ready);
  pump();
}

void dns_service::on_time(clock::time_point now) {
  now_ = now;
  upstream_.on_time();
  tcp_.on_time(now);
  pump();
}

std::optional<dns_service::clock::time_point> dns_service::due(clock::time_point now) const {
  const auto one = upstream_.due(now), other = tcp_.due();
  return one && other ? std::min(*one, *other) : one ? one : other;
}

// Until nothing more follows from what has come.
void dns_service::pump() {
  while (true) {
    while (const auto question = server_.next_question(now_))
      upstream_.ask(question->number, question->message, now_);
    if (upstream_.take_changed()) {
      server_.forget_answers();
      around_.tell({level::info, "dns servers", "DNS asks " + to_string(upstream_.servers())});
    }
    const auto answers = upstream_.take_answers();
    for (const auto& [number, message] : answers) {
      judge(message.has_value());
      server_.on_answer(number, message, now_);
    }
    const auto resumed = std::exchange(resumable_, {});
    for (const auto which : resumed) {
      tcp_.resume(which, now_);
      end_if_done(which);
    }
    if (answers.empty() && resumed.empty())
      break;
  }
  tell_limits();
}

void dns_service::judge(bool has_answer) {
  if (has_answer) {
    if (std::exchange(failures_, 0) >= worrying_failures)
      around_.tell({level::info, "dns servers", "DNS is answered again"});
    return;
  }
  if (++failures_ == worrying_failures)
    around_.tell({level::warning, "dns servers",
                  "DNS has no answer from " + to_string(upstream_.servers()) +
                      ": names outside of this network are not found; is this host on a network?"});
}

void dns_service::tell_limits() {
  const auto over = server_.counters().over_limit;
  if (over == told_over_limit_ || (told_at_ && now_ - *told_at_ < note_interval))
    return;
  around_.tell({level::warning, "dns limit",
                "DNS: " + std::to_string(over - told_over_limit_) +
                    " queries were dropped, since too many wait for answers of other servers"});
  told_over_limit_ = over;
  told_at_ = now_;
}

} // namespace vmswitch
