#include "vmnet/dns/dns_service.hpp"

#include <array>
#include <map>

#include <doctest/doctest.h>

#include "tests/vmnet/dns/dns_text.hpp"
#include "tests/vmnet/dns/loopback_dns.hpp"
#include "tests/vmnet/nat_guest.hpp"
#include "vmnet/dns/dns_addresses.hpp"
#include "vmnet/user_addresses.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;
using strings = std::vector<std::string>;

namespace {

constexpr auto vm_mac = mac_address::from_integer(0x5254'0000'0001);
constexpr ipv4_address vm_address{0xc0a86909};

struct bench {
  explicit bench(dns_config config = {}) : service{setup(std::move(config)), polls, around()} {}

  static dns_setup setup(dns_config config) {
    if (!config.upstream)
      config.upstream.emplace();
    return {resolve_dns({}, {}, config), dns_server_addresses({}), 1500, {.patience = 200ms}, 7};
  }
  dns_surroundings around() {
    auto macs = dns_server_macs({});
    macs.push_back(user_mac_for(host_config{}.gateway));
    return {
        std::move(macs), [] { return nullptr; },
        [this](std::span<const std::byte> bare) { sent.emplace_back(bare.begin(), bare.end()); },
        [this](const service_note& note) { notes.push_back(note.text); }};
  }
  static route way_to(ipv4_address to) { return {vm_mac, user_mac_for(to), vm_address, to}; }
  static route way() { return way_to(host_config{}.gateway); }

  bool give(const frame& bare) {
    if (!service.is_for_service(bare))
      return false;
    service.receive(bare, now);
    return true;
  }
  /// The payload of the first frame that was sent, by UDP.
  std::optional<shown_answer> answer() {
    if (sent.empty())
      return std::nullopt;
    const auto packet = parse_ip_packet(sent.front());
    REQUIRE(packet);
    CHECK(packet->protocol == protocol_of_udp);
    const auto shown = show(packet->content);
    sent.erase(sent.begin());
    return shown;
  }
  template <class Serve>
  bool await(std::size_t frames, Serve&& serve) {
    const auto deadline = std::chrono::steady_clock::now() + 5s;
    while (sent.size() < frames && std::chrono::steady_clock::now() < deadline) {
      serve();
      std::array<poll_set::ready, 16> ready;
      const auto got = polls.collect(ready);
      for (std::size_t i = 0; i < got.count; ++i)
        service.process(ready[i], std::chrono::steady_clock::now());
      if (got.timer)
        service.on_time(std::chrono::steady_clock::now());
      if (const auto due = service.due(std::chrono::steady_clock::now()))
        polls.wake_at(*due);
      is_readable(polls.fd(), 5);
    }
    return sent.size() == frames;
  }

  poll_set polls = poll_set::open().value();
  dns_service::clock::time_point now = dns_service::clock::now();
  std::vector<frame> sent;
  std::vector<std::string> notes;
  dns_service service;
};

dns_config with_big_record(std::size_t size) {
  dns_config config;
  config.records = {{"big", dns_type::txt, std::string(size, 'x')}};
  return config;
}

/// A client of TCP that loses nothing and acknowledges all at once.
struct tcp_client {
  explicit tcp_client(bench& with) : b{with} {
    give({.sequence = 1, .flags = tcp_segment::syn});
    take();
    REQUIRE(theirs != 0);
  }
  void give(tcp_segment segment) {
    segment.source_port = 41000;
    segment.destination_port = 53;
    segment.acknowledged = theirs;
    if (theirs != 0)
      segment.flags |= tcp_segment::ack;
    REQUIRE(b.give(tcp(bench::way(), segment)));
    mine = segment.sequence + static_cast<std::uint32_t>(segment.data.size()) +
           ((segment.flags & (tcp_segment::syn | tcp_segment::fin)) != 0 ? 1 : 0);
  }
  void say(const std::string& data, std::uint8_t flags = 0) {
    give({.sequence = mine, .flags = flags, .data = data});
    take();
  }
  void take() {
    while (!b.sent.empty()) {
      const auto packet = parse_ipv4(b.sent.front());
      REQUIRE(packet);
      const auto segment = parse_tcp(*packet);
      REQUIRE(segment);
      b.sent.erase(b.sent.begin());
      const bool is_new = theirs == 0 || segment->sequence == theirs;
      if (!is_new)
        continue;
      const auto length =
          static_cast<std::uint32_t>(segment->data.size()) + ((segment->flags & 3) != 0 ? 1 : 0);
      theirs = segment->sequence + length;
      got += segment->data;
      ended = ended || (segment->flags & tcp_segment::fin) != 0;
      reset = reset || (segment->flags & tcp_segment::rst) != 0;
      if (length > 0)
        give({.sequence = mine});
    }
  }
  std::vector<shown_answer> answers() {
    std::vector<shown_answer> all;
    auto bytes = std::as_bytes(std::span{got});
    while (bytes.size() >= 2) {
      const std::size_t size = dns_u16(bytes, 0);
      REQUIRE(bytes.size() >= 2 + size);
      all.push_back(show(bytes.subspan(2, size)));
      bytes = bytes.subspan(2 + size);
    }
    return all;
  }

  bench& b;
  std::uint32_t mine = 0, theirs = 0;
  std::string got;
  bool ended = false, reset = false;
};

std::string framed(const dns_bytes& message) {
  std::string text;
  text += static_cast<char>(message.size() >> 8);
  text += static_cast<char>(message.size() & 0xff);
  for (const auto octet : message)
    text += std::to_integer<char>(octet);
  return text;
}

} // namespace

TEST_SUITE("DNS service") {
  TEST_CASE("a query by UDP is answered to whoever asked, from the address that was asked") {
    bench b;
    REQUIRE(b.give(udp(bench::way(), 40000, 53, query_for("gateway.vm.internal"))));
    REQUIRE(b.sent.size() == 1);
    const auto packet = parse_ipv4(b.sent[0]);
    REQUIRE(packet);
    CHECK(packet->way.destination_mac == vm_mac);
    CHECK(packet->way.destination == vm_address);
    CHECK(packet->way.source == host_config{}.gateway);
    CHECK(parse_udp(*packet)->destination_port == 40000);
    CHECK(parse_udp(*packet)->source_port == 53);
    CHECK(b.answer()->answers == strings{"gateway.vm.internal 60 A 192.168.105.1"});
    CHECK(b.service.is_idle());
    CHECK_FALSE(b.service.due(b.now));
  }

  TEST_CASE("libslirp's old resolver address and IPv6 are answered, too") {
    bench b;
    CHECK(b.give(udp(bench::way_to({0xc0a86903}), 40000, 53, query_for("gateway.vm.internal"))));
    CHECK(b.answer()->answers.size() == 1);
    ip_path path;
    path.peer_mac = mac_address::from_integer(0x5256'0000'0003);
    path.own_mac = vm_mac;
    path.own = dns_server_addresses({})[3];
    path.peer = path.own;
    path.own.octets[15] = 0x77;
    path.own_port = 40000;
    path.peer_port = 53;
    CHECK(b.give(make_udp_frame(path, query_for("gateway.vm.internal", dns_type::aaaa))));
    CHECK(b.answer()->answers == strings{"gateway.vm.internal 60 AAAA fd00::2"});
  }

  TEST_CASE("what is for others is not touched") {
    bench b;
    const auto query = query_for("gateway.vm.internal");
    auto way = bench::way();
    CHECK_FALSE(b.give(udp(way, 40000, 54, query)));
    CHECK_FALSE(b.give(udp(way, 53, 40000, query)));
    way.destination = {0xc0a86908};
    CHECK_FALSE(b.give(udp(way, 40000, 53, query)));
    way = bench::way();
    way.destination_mac = mac_address::from_integer(0x5254'0000'0002);
    CHECK_FALSE(b.give(udp(way, 40000, 53, query)));
    auto later_fragment = udp(bench::way(), 40000, 53, query);
    later_fragment[21] = std::byte{5};
    CHECK_FALSE(b.give(later_fragment));
    CHECK_FALSE(b.give(frame(14)));
    CHECK_FALSE(b.give(icmp_echo(bench::way(), {})));
    CHECK(b.sent.empty());
  }

  TEST_CASE("a damaged query or a first fragment is dropped") {
    bench b;
    auto damaged = udp(bench::way(), 40000, 53, query_for("gateway.vm.internal"));
    damaged.back() ^= std::byte{1};
    CHECK(b.give(damaged));
    auto fragment = udp(bench::way(), 40000, 53, query_for("gateway.vm.internal"));
    fragment[20] = std::byte{0x20};
    CHECK(b.give(fragment));
    CHECK(b.sent.empty());
  }

  TEST_CASE("an answer fits the network's mtu, whatever the client takes") {
    bench b{with_big_record(2000)};
    b.give(udp(bench::way(), 40000, 53, query_for("big.vm.internal", dns_type::txt, 1, 4096)));
    const auto answer = b.answer();
    REQUIRE(answer);
    CHECK(answer->truncated);
  }

  TEST_CASE("4 KB by TCP, several queries on one connection, in pieces, and an orderly end") {
    bench b{with_big_record(4000)};
    tcp_client client{b};
    const auto query = framed(query_for("big.vm.internal", dns_type::txt, 1));
    client.say(query.substr(0, 1));
    client.say(query.substr(1, 20));
    CHECK(client.got.empty());
    client.say(query.substr(21) + query + framed(query_for("gateway.vm.internal")));
    const auto answers = client.answers();
    REQUIRE(answers.size() == 3);
    CHECK(answers[0].answers[0].size() > 4000);
    CHECK(answers[2].answers == strings{"gateway.vm.internal 60 A 192.168.105.1"});
    CHECK_FALSE(b.service.is_idle());
    client.say("", tcp_segment::fin);
    CHECK(client.ended);
    CHECK(b.service.is_idle());
    CHECK_FALSE(b.service.due(b.now));
  }

  TEST_CASE("a client that ends its side at once has all of its answers") {
    bench b;
    tcp_client client{b};
    std::string all;
    for (int i = 0; i < 40; ++i)
      all += framed(query_for("gateway.vm.internal", dns_type::a, static_cast<std::uint16_t>(i)));
    client.say(all, tcp_segment::fin);
    CHECK(client.answers().size() == 40);
    CHECK(client.ended);
    CHECK(b.service.is_idle());
  }

  TEST_CASE("nonsense by TCP is reset") {
    bench b;
    tcp_client client{b};
    client.say(std::string("\xff\xff hello", 8));
    CHECK(client.reset);
    CHECK(b.service.is_idle());
  }

  TEST_CASE("another name is asked for, over UDP and TCP, and the answer comes when it is there") {
    loopback_dns server;
    dns_config config;
    config.upstream = {server.endpoint()};
    bench b{config};
    const auto serve = [&] {
      server.serve([](const dns_bytes& q, bool) {
        const auto query = parsed_query(q);
        dns_writer out{query, dns_rcode::no_error, false};
        out.answer(query.name, dns_type::a, 60, std::string_view{"\x0a\0\0\1", 4});
        return out.finish();
      });
    };
    b.give(udp(bench::way(), 40000, 53, query_for("www.example.com")));
    CHECK(b.sent.empty());
    CHECK_FALSE(b.service.is_idle());
    REQUIRE(b.await(1, serve));
    CHECK(b.answer()->answers == strings{"www.example.com 60 A 10.0.0.1"});
    CHECK(b.service.is_idle());
    CHECK(b.notes == strings{"DNS asks " + to_string(server.endpoint())});
    tcp_client client{b};
    client.say(framed(query_for("other.example.com")), tcp_segment::fin);
    CHECK_FALSE(client.ended);
    b.await(99, [&] {
      serve();
      client.take();
      if (client.ended)
        b.sent.resize(99);
    });
    CHECK(client.answers().size() == 1);
    CHECK(client.ended);
  }

  TEST_CASE("that no server answers is told once, and that it is over, too") {
    loopback_dns server;
    dns_config config;
    config.upstream = {server.endpoint()};
    bench b{config};
    for (int i = 0; i < 5; ++i)
      b.give(
          udp(bench::way(), 40000, 53, query_for(("n" + std::to_string(i) + ".example").c_str())));
    REQUIRE(b.await(5, [] {}));
    CHECK(b.answer()->rcode == 2);
    REQUIRE(b.notes.size() == 2);
    CHECK(b.notes[1].find("DNS has no answer from " + to_string(server.endpoint())) == 0);
    b.sent.clear();
    server.serve([](const dns_bytes&, bool) { return dns_bytes{}; });
    b.give(udp(bench::way(), 40000, 53, query_for("back.example")));
    REQUIRE(b.await(1, [&] {
      server.serve([](const dns_bytes& q, bool) {
        return dns_writer{parsed_query(q), dns_rcode::no_such_name, false}.finish();
      });
    }));
    CHECK(b.answer()->rcode == 3);
    CHECK(b.notes.back() == "DNS is answered again");
  }
}
