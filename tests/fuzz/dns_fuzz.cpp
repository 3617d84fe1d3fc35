// Any bytes as queries of VMs, as answers of other servers, and as TCP to the service: what is
// answered is a whole message with the query's id, of a size that its way carries, and nothing of a
// local name is asked of others.
//
// Input: pieces, each behind its length (2 bytes) and a byte that says what it is: its low bits 0 a
// query, 1 an answer to what is asked, 2 a frame, 3 a TCP segment in a right frame; the rest passes
// time. An answer has the question put in front, unless the highest bit of its length is set.

#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "vmnet/dns/dns_addresses.hpp"
#include "vmnet/dns/dns_service.hpp"
#include "vmnet/user_addresses.hpp"

using namespace vmswitch;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

dns_config config() {
  dns_config made;
  made.records = {{"db", dns_type::a, "192.168.105.50"},
                  {"www", dns_type::cname, "db.vm.internal"},
                  {"big", dns_type::txt, std::string(4000, 'x')},
                  {"db.example.com", dns_type::a, "10.0.0.1"}};
  made.cache_size = 4;
  return made;
}

const dns_settings& settings() {
  static const auto made = resolve_dns({}, {}, config());
  return made;
}

/// Frames and segments, with no other server.
struct wire {
  wire() {
    auto alone = settings();
    alone.upstream.emplace();
    auto macs = dns_server_macs({});
    macs.push_back(user_mac_for(host_config{}.gateway));
    service.emplace(dns_setup{alone, dns_server_addresses({}), 1500, {}, 1}, polls,
                    dns_surroundings{std::move(macs), [] { return nullptr; },
                                     [](std::span<const std::byte> frame) {
                                       require(frame.size() >= 14 + 28 && frame.size() <= 1514);
                                     },
                                     [](const service_note&) {}});
  }
  void give(std::span<const std::byte> frame) {
    if (service->is_for_service(frame))
      service->receive(frame, now);
  }
  poll_set polls = poll_set::open().value();
  dns_service::clock::time_point now{std::chrono::hours{1000}};
  std::optional<dns_service> service;
};

std::vector<std::byte> segment_frame(std::span<const std::byte> segment) {
  ip_path path;
  path.own_mac = mac_address::from_integer(0x5254'0000'0001);
  path.peer_mac = user_mac_for(host_config{}.gateway);
  path.own = packet_address{ipv4_address{0xc0a86909}};
  path.peer = packet_address{host_config{}.gateway};
  path.own_port = static_cast<std::uint16_t>(40000 + std::to_integer<unsigned>(segment[0]) % 4);
  path.peer_port = 53;
  return make_tcp_frame(path, segment);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::optional<std::uint16_t> id; // of the query that is being given
  dns_server::time_point now{std::chrono::hours{1000}};
  dns_server server{settings(), [&](const dns_peer& peer, dns_bytes message) {
                      require(message.size() >= dns_header_size && message.size() <= peer.limit);
                      require((dns_u8(message, 2) & 0x80) != 0);
                      require(!id || dns_u16(message, 0) == *id);
                    }};
  wire on_wire;
  dns_peer peer;
  peer.limit = 1472;
  std::span<const std::byte> rest{reinterpret_cast<const std::byte*>(data), size};
  std::vector<dns_server::question> asked;
  while (rest.size() >= 3) {
    const auto first = dns_u8(rest, 0);
    const auto length =
        std::min<std::size_t>((first & 0x7f) << 8 | dns_u8(rest, 1), rest.size() - 3);
    const auto kind = dns_u8(rest, 2);
    const auto piece = rest.subspan(3, length);
    rest = rest.subspan(3 + length);
    now += std::chrono::seconds{kind >> 2};
    on_wire.now = now;
    if (const auto due = on_wire.service->due(now); due && *due <= now)
      on_wire.service->on_time(now);
    switch (kind & 3) {
    case 0:
      if (piece.size() >= 2)
        id = dns_u16(piece, 0);
      server.receive(peer, piece, nullptr, now);
      id.reset();
      while (auto question = server.next_question(now)) {
        const auto got = parse_dns_query(question->message);
        require(got.query.has_value() && !got.query->name.is_within(settings().domain));
        asked.push_back(std::move(*question));
      }
      break;
    case 1:
      if (!asked.empty()) {
        dns_bytes answer;
        if ((first & 0x80) == 0 && piece.size() >= dns_header_size) {
          const auto& question = asked.back().message;
          answer.assign(piece.begin(), piece.begin() + dns_header_size);
          answer[2] |= std::byte{0x80};
          set_u16(answer, 4, 1);
          answer.insert(answer.end(), question.begin() + dns_header_size, question.end() - 11);
          answer.insert(answer.end(), piece.begin() + dns_header_size, piece.end());
        } else {
          answer.assign(piece.begin(), piece.end());
        }
        server.on_answer(asked.back().number, answer, now);
        asked.pop_back();
      }
      break;
    case 2:
      on_wire.give(piece);
      break;
    default:
      if (piece.size() >= 20 && piece.size() <= 1480)
        on_wire.give(segment_frame(piece));
      break;
    }
  }
  for (const auto& question : asked)
    server.on_answer(question.number, {}, now);
  require(server.open_questions() == 0);
  static_cast<void>(parse_resolv_conf({reinterpret_cast<const char*>(data), size}));
  return 0;
}
