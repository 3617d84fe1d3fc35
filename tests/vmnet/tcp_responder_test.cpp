#include "vmnet/tcp_responder.hpp"

#include <deque>
#include <string>

#include <doctest/doctest.h>

#include "tests/vmnet/nat_guest.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

constexpr auto vm_mac = mac_address::from_integer(0x5254'0000'0001);
constexpr auto own_mac = mac_address::from_integer(0x5255'c0a8'6901);
using seg = tcp_segment;

/// A responder that takes what it gets, and a client whose every segment the test makes.
struct bench {
  bench() : tcp{1500, 7, callbacks()} {}

  tcp_responder::callbacks callbacks() {
    return {.received =
                [this](tcp_responder::connection from, std::vector<std::byte>& input) {
                  which = from;
                  if (!takes)
                    return true;
                  for (const auto octet : input)
                    got += std::to_integer<char>(octet);
                  input.clear();
                  if (!answer_at_once.empty())
                    write(std::exchange(answer_at_once, {}));
                  return !got.starts_with("nonsense");
                },
            .peer_ended =
                [this](tcp_responder::connection from) {
                  ++ends;
                  if (ends_with_peer)
                    tcp.end(from, now);
                },
            .gone = [this](tcp_responder::connection) { ++gone; },
            .send =
                [this](std::span<const std::byte> bare) {
                  const auto packet = parse_ipv4(bare);
                  REQUIRE(packet);
                  const auto segment = parse_tcp(*packet);
                  REQUIRE(segment);
                  CHECK(packet->payload.size() <= 1480);
                  sent.push_back(*segment);
                }};
  }
  void write(const std::string& text) { tcp.write(which, std::as_bytes(std::span{text}), now); }
  void give(seg segment, std::uint16_t port = 40000, mac_address from = vm_mac) {
    segment.source_port = port;
    segment.destination_port = 53;
    const auto bare = test::tcp({from, own_mac, {0xc0a86909}, {0xc0a86901}}, segment);
    const auto packet = parse_ip_packet(bare);
    REQUIRE(packet);
    tcp.receive(*packet, now);
  }
  seg next() {
    REQUIRE_FALSE(sent.empty());
    const auto first = sent.front();
    sent.pop_front();
    return first;
  }
  /// The client side of a connection that is open.
  void connect() {
    give({.sequence = 1000, .flags = seg::syn});
    const auto answer = next();
    REQUIRE(answer.flags == (seg::syn | seg::ack));
    CHECK(answer.acknowledged == 1001);
    theirs = answer.sequence + 1;
    mine = 1001;
    give({.sequence = mine, .acknowledged = theirs, .flags = seg::ack});
    REQUIRE(sent.empty());
  }
  void say(const std::string& data, std::uint8_t more = 0) {
    give({.sequence = mine,
          .acknowledged = theirs,
          .flags = static_cast<std::uint8_t>(seg::ack | seg::psh | more),
          .data = data});
    mine += static_cast<std::uint32_t>(data.size()) + ((more & seg::fin) != 0 ? 1 : 0);
  }
  void acknowledge(std::uint32_t upto, std::uint16_t window = 65535) {
    give({.sequence = mine, .acknowledged = upto, .flags = seg::ack, .window = window});
  }
  void pass(std::chrono::milliseconds time) {
    now += time;
    if (const auto due = tcp.due(); due && *due <= now)
      tcp.on_time(now);
  }

  tcp_responder::time_point now{std::chrono::hours{100}};
  std::deque<seg> sent;
  std::string got, answer_at_once;
  tcp_responder::connection which = 0;
  bool takes = true, ends_with_peer = true;
  int ends = 0, gone = 0;
  std::uint32_t mine = 0, theirs = 0;
  tcp_responder tcp;
};

} // namespace

TEST_SUITE("TCP responder") {
  TEST_CASE("a request, an answer, an end by the client: nothing is left") {
    bench b;
    b.connect();
    b.answer_at_once = "answer";
    b.say("request");
    CHECK(b.got == "request");
    const auto answer = b.next();
    CHECK(answer.data == "answer");
    CHECK(answer.acknowledged == b.mine); // acknowledges with it
    CHECK(b.sent.empty());
    b.theirs += 6;
    b.acknowledge(b.theirs);
    b.say("", seg::fin);
    CHECK(b.ends == 1);
    const auto end = b.next();
    CHECK(end.flags == (seg::fin | seg::ack));
    CHECK(end.acknowledged == b.mine);
    b.acknowledge(b.theirs + 1);
    CHECK(b.gone == 1);
    CHECK(b.tcp.connections() == 0);
    CHECK_FALSE(b.tcp.due());
    CHECK(b.sent.empty());
  }

  TEST_CASE("the client learns our segment size, and we keep to its") {
    bench b;
    // MSS 400, in front of which stand two options that are skipped.
    auto opening = byte_writer{}
                       .u16(40000)
                       .u16(53)
                       .u32(1000)
                       .u32(0)
                       .u8(7 << 4)
                       .u8(seg::syn)
                       .u16(65535)
                       .u32(0)
                       .u8(1)
                       .u8(3)
                       .u8(3)
                       .u8(7)
                       .u8(2)
                       .u8(4)
                       .u16(400)
                       .take();
    ip_path path{own_mac,
                 vm_mac,
                 packet_address{ipv4_address{0xc0a86901}},
                 packet_address{ipv4_address{0xc0a86909}},
                 53,
                 40000};
    const auto bare = make_tcp_frame(path, opening);
    b.tcp.receive(*parse_ip_packet(bare), b.now);
    b.theirs = b.next().sequence + 1;
    b.mine = 1001;
    b.acknowledge(b.theirs);
    b.say("x");
    b.next();
    b.write(std::string(1000, 'a'));
    CHECK(b.next().data.size() == 400);
    CHECK(b.next().data.size() == 400);
    CHECK(b.next().data.size() == 200);
  }

  TEST_CASE("what is lost is sent again, ever more seldom, and then given up") {
    bench b;
    b.connect();
    b.say("x");
    b.next();
    b.write(std::string(3000, 'a'));
    std::string first = b.next().data;
    CHECK(first.size() == 536);
    while (!b.sent.empty())
      b.next();
    b.pass(299ms);
    CHECK(b.sent.empty());
    b.pass(1ms);
    CHECK(b.next().data == first);
    b.sent.clear();
    b.acknowledge(b.theirs + 3000); // the later ones had come, after all
    CHECK(b.sent.empty());
    b.write("y");
    int resends = 0;
    b.next();
    for (int i = 0; i < 400 && b.tcp.connections() > 0; ++i) {
      b.pass(100ms);
      for (; !b.sent.empty(); b.sent.pop_front())
        resends += b.sent.front().data == "y" ? 1 : 0;
    }
    CHECK(resends >= 4);
    CHECK(resends <= tcp_responder::most_resends);
    CHECK(b.gone == 1);
  }

  TEST_CASE("bytes come in order, whatever is repeated, overlaps or is missing") {
    bench b;
    b.connect();
    b.give({.sequence = b.mine + 3, .acknowledged = b.theirs, .flags = seg::ack, .data = "def"});
    CHECK(b.got.empty());
    CHECK(b.next().acknowledged == b.mine); // what is missing
    b.say("abc");
    CHECK(b.next().acknowledged == b.mine);
    b.give({.sequence = b.mine - 3, .acknowledged = b.theirs, .flags = seg::ack, .data = "abcde"});
    CHECK(b.got == "abcde");
    CHECK(b.next().acknowledged == b.mine + 2);
    b.give({.sequence = b.mine - 1, .acknowledged = b.theirs, .flags = seg::ack}); // keep-alive
    CHECK(b.next().acknowledged == b.mine + 2);
  }

  TEST_CASE("the peer's window is kept to, and a closed one is looked into") {
    bench b;
    b.connect();
    b.say("x");
    b.next();
    b.acknowledge(b.theirs, 700);
    b.write(std::string(1000, 'a'));
    CHECK(b.next().data.size() == 536);
    CHECK(b.next().data.size() == 164);
    CHECK(b.sent.empty());
    b.acknowledge(b.theirs + 700, 0);
    CHECK(b.sent.empty());
    b.pass(300ms);
    CHECK(b.next().data.size() == 1);
    b.acknowledge(b.theirs + 700, 0);
    b.pass(600ms);
    CHECK(b.next().data.size() == 1);
    b.acknowledge(b.theirs + 701, 65535);
    CHECK(b.next().data.size() == 299);
    CHECK(b.sent.empty());
  }

  TEST_CASE("input that is not taken closes our window, and taking it opens the window again") {
    bench b;
    b.connect();
    b.takes = false;
    for (int i = 0; i < 20; ++i)
      b.give({.sequence = b.mine + static_cast<std::uint32_t>(i) * 1000,
              .acknowledged = b.theirs,
              .flags = seg::ack,
              .data = std::string(1000, static_cast<char>('a' + i))});
    CHECK(b.sent.back().acknowledged == b.mine + tcp_responder::window);
    CHECK(b.sent.back().window == 0);
    b.sent.clear();
    b.takes = true;
    b.tcp.resume(b.which, b.now);
    CHECK(b.got.size() == tcp_responder::window);
    CHECK(b.next().window == tcp_responder::window);
  }

  TEST_CASE("half-close: the answer comes behind the client's end, then ours") {
    bench b;
    b.ends_with_peer = false;
    b.connect();
    b.say("request", seg::fin);
    CHECK(b.next().acknowledged == b.mine);
    b.write("late");
    CHECK(b.next().data == "late");
    b.tcp.end(b.which, b.now);
    CHECK(b.next().flags == (seg::fin | seg::ack));
    b.acknowledge(b.theirs + 5);
    CHECK(b.gone == 1);
  }

  TEST_CASE("a silent connection is ended, and if that does not help reset") {
    bench b;
    b.connect();
    b.pass(tcp_responder::patience);
    CHECK(b.next().flags == (seg::fin | seg::ack));
    b.acknowledge(b.theirs + 1);
    CHECK(b.gone == 0);
    b.pass(tcp_responder::patience);
    CHECK(b.next().flags == (seg::rst | seg::ack));
    CHECK(b.gone == 1);
    CHECK_FALSE(b.tcp.due());
  }

  TEST_CASE("an opening that is never answered goes away by itself") {
    bench b;
    b.give({.sequence = 1000, .flags = seg::syn});
    for (int i = 0; i < 300; ++i)
      b.pass(100ms);
    CHECK(b.tcp.connections() == 0);
    CHECK(b.sent.size() < 10);
  }

  TEST_CASE(
      "a repeated opening has the same answer, a second one on an open connection none of it") {
    bench b;
    b.give({.sequence = 1000, .flags = seg::syn});
    const auto first = b.next();
    b.give({.sequence = 1000, .flags = seg::syn});
    CHECK(b.next().sequence == first.sequence);
    b.theirs = first.sequence + 1;
    b.mine = 1001;
    b.acknowledge(b.theirs);
    b.give({.sequence = 5000, .flags = seg::syn}); // RFC 5961, 4.2
    CHECK(b.next().acknowledged == 1001);
    CHECK(b.tcp.connections() == 1);
  }

  TEST_CASE("a reset counts only where it is expected, and what belongs to nothing is reset") {
    bench b;
    b.connect();
    b.give({.sequence = b.mine + 1, .flags = seg::rst});
    CHECK(b.tcp.connections() == 1);
    b.give({.sequence = b.mine, .flags = seg::rst});
    CHECK(b.gone == 1);
    b.give({.sequence = 5, .acknowledged = 99, .flags = seg::ack, .data = "x"});
    const auto reset = b.next();
    CHECK(reset.flags == seg::rst);
    CHECK(reset.sequence == 99);
    b.give({.sequence = 5, .flags = seg::rst});
    CHECK(b.sent.empty());
  }

  TEST_CASE("nonsense, and a peer that takes nothing of a large answer, end by a reset") {
    bench b;
    b.connect();
    SUBCASE("nonsense") {
      b.say("nonsense");
    }
    SUBCASE("too much output") {
      b.say("x");
      b.sent.clear();
      for (int i = 0; i < 10; ++i)
        b.write(std::string(60000, 'a'));
      b.sent.clear();
      b.pass(0ms);
    }
    CHECK(b.next().flags == (seg::rst | seg::ack));
    CHECK(b.gone == 1);
  }

  TEST_CASE("one VM has a share of the connections, and beyond it is refused") {
    bench b;
    for (std::uint16_t i = 0; i < 40; ++i)
      b.give({.sequence = 1, .flags = seg::syn}, static_cast<std::uint16_t>(1000 + i));
    CHECK(b.tcp.connections() == tcp_responder::most_of_one_vm);
    CHECK(b.sent.back().flags == (seg::rst | seg::ack));
    CHECK(b.tcp.refused() == 8);
    b.sent.clear();
    b.give({.sequence = 1, .flags = seg::syn}, 1000, mac_address::from_integer(0x5254'0000'0002));
    CHECK(b.next().flags == (seg::syn | seg::ack));
  }

  TEST_CASE("an acknowledgement of what was never sent is told what was") {
    bench b;
    b.connect();
    b.acknowledge(b.theirs + 100);
    CHECK(b.next().sequence == b.theirs);
    CHECK(b.tcp.connections() == 1);
  }
}
