#include <array>
#include <cstdint>
#include <vector>

#include <sys/resource.h>

#include "tests/vmnet/forward/loopback_client.hpp"
#include "tests/vmnet/loopback_peer.hpp"
#include "tests/vmnet/nat_fixture.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;
using ending = loopback_client::ending;

namespace {

constexpr std::uint16_t vm_port = 22;

bool is_readable(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

struct fixture : nat_fixture {
  using clock = user_host::clock;
  explicit fixture(const host_config& wanted = {}, clock::time_point (*now)() = clock::now)
      : nat_fixture{wanted, now} {
    introduce();
  }

  forward_carrier& forwards() { return *host.forwards(); }
  forward_listen open(forward_protocol protocol, const char* at = "127.0.0.1") {
    const forward_rule rule{{protocol, address_of(at), free_port(protocol)}, {}, vm_port};
    const auto opened = forwards().open(rule);
    REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().text));
    return rule.listen;
  }
  result<void> aim(const forward_listen& listen, std::optional<ipv4_address> at) {
    return forwards().aim(listen, at ? std::optional{ip_address{*at}} : std::nullopt);
  }

  /// The next segment to the VM's port, from whom it came.
  struct arrival {
    route way;
    tcp_segment segment;
  };
  std::optional<arrival> await_segment(ipv4_address to) {
    std::optional<arrival> found;
    guest.await([&](const frame& bare) {
      const auto packet = parse_ipv4(bare);
      const auto segment = packet ? parse_tcp(*packet) : std::nullopt;
      if (!segment || packet->way.destination != to || segment->destination_port != vm_port)
        return false;
      found = {packet->way, *segment};
      return true;
    });
    return found;
  }
};

/// The VM's side of a connection that comes in.
class tcp_server {
public:
  explicit tcp_server(fixture& nat, std::optional<ipv4_address> own = {})
      : nat_{nat}, own_{own.value_or(nat.address)} {}

  bool accept() {
    const auto caller = nat_.await_segment(own_);
    if (!caller || caller->segment.flags != tcp_segment::syn)
      return false;
    caller_ = caller->segment.source_port;
    source = caller->way.source;
    expected_ = caller->segment.sequence + 1;
    send(tcp_segment::syn | tcp_segment::ack);
    ++next_;
    return nat_.await_segment(own_).has_value();
  }
  void refuse() {
    const auto caller = nat_.await_segment(own_);
    REQUIRE(caller);
    caller_ = caller->segment.source_port;
    source = caller->way.source;
    expected_ = caller->segment.sequence + 1;
    send(tcp_segment::rst | tcp_segment::ack);
  }
  void send(std::uint8_t flags, const std::string& data = {}) {
    const route way{nat_.guest.mac, user_mac_for(nat_.config.gateway), own_, source};
    nat_.guest.send(tcp(way, {vm_port, caller_, next_, expected_, flags, 65535, data}));
    next_ += static_cast<std::uint32_t>(data.size());
  }
  /// Data until that many bytes, or the end of the client's side.
  std::string receive(std::size_t bytes) {
    std::string all;
    while (all.size() < bytes) {
      const auto got = nat_.await_segment(own_);
      if (!got)
        break;
      all += got->segment.data;
      expected_ += static_cast<std::uint32_t>(got->segment.data.size());
      if ((got->segment.flags & tcp_segment::fin) != 0) {
        ++expected_;
        has_ended = true;
      }
      send(tcp_segment::ack);
      if (has_ended)
        break;
    }
    return all;
  }
  ipv4_address source;
  bool has_ended = false;

private:
  fixture& nat_;
  const ipv4_address own_;
  std::uint16_t caller_ = 0;
  std::uint32_t next_ = 5000;
  std::uint32_t expected_ = 0;
};

} // namespace

TEST_SUITE("forwards of the user host") {

  TEST_CASE("TCP from the host reaches the VM, and a client that has ended gets its answer") {
    fixture f;
    const auto listen = f.open(forward_protocol::tcp);
    REQUIRE(f.aim(listen, f.address));
    const loopback_client client{SOCK_STREAM, "127.0.0.1", listen.port};
    tcp_server server{f};
    REQUIRE(server.accept());
    CHECK(server.source == f.config.gateway);
    client.say("question");
    CHECK(server.receive(8) == "question");
    client.ends();
    server.receive(1);
    CHECK(server.has_ended);
    server.send(tcp_segment::ack | tcp_segment::psh, "answer");
    server.send(tcp_segment::ack | tcp_segment::fin);
    CHECK(client.hears(100) == "answer");
    CHECK(client.sees() == ending::orderly);
  }

  TEST_CASE("with a forward its connections end, on both sides, and no others") {
    fixture f;
    const auto listen = f.open(forward_protocol::tcp), stays = f.open(forward_protocol::tcp);
    const auto all = f.open(forward_protocol::tcp, "0.0.0.0");
    for (const auto& each : {listen, stays, all})
      REQUIRE(f.aim(each, f.address));
    const loopback_client lasting{SOCK_STREAM, "127.0.0.1", stays.port};
    tcp_server lasting_server{f};
    REQUIRE(lasting_server.accept());
    for (const auto& each : {listen, all}) {
      const loopback_client client{SOCK_STREAM, "127.0.0.1", each.port};
      tcp_server server{f};
      REQUIRE(server.accept());
      f.forwards().close(each, [] {});
      CHECK(client.sees() == ending::orderly);
      server.receive(1);
      CHECK(server.has_ended);
    }
    lasting.say("still");
    CHECK(lasting_server.receive(5) == "still");
  }

  TEST_CASE(
      "a connection that is half closed, or that its VM does not end, ends with its forward") {
    static std::chrono::steady_clock::time_point now;
    for (const bool client_ends_first : {true, false}) {
      now = std::chrono::steady_clock::now();
      fixture f{{}, [] { return now; }};
      const auto listen = f.open(forward_protocol::tcp);
      REQUIRE(f.aim(listen, f.address));
      const loopback_client client{SOCK_STREAM, "127.0.0.1", listen.port};
      tcp_server server{f};
      REQUIRE(server.accept());
      if (client_ends_first) {
        client.ends();
        server.receive(1);
        REQUIRE(server.has_ended);
      }
      f.forwards().close(listen, [] {});
      CHECK(client.sees() == ending::orderly);
      if (!client_ends_first)
        server.receive(1);
      f.guest.settle();
      now += 2s;
      CHECK(f.host.process());
      CHECK(f.host.open_sockets() == 0);
      server.send(tcp_segment::ack | tcp_segment::psh, "too late");
      const auto answer = f.await_segment(f.address);
      REQUIRE(answer);
      CHECK((answer->segment.flags & tcp_segment::rst) != 0);
    }
  }

  TEST_CASE("with a UDP forward no TCP connection ends, be it at the same port") {
    fixture f;
    const auto listen = f.open(forward_protocol::tcp);
    REQUIRE(f.aim(listen, f.address));
    const forward_rule other{{forward_protocol::udp, listen.address, listen.port}, {}, vm_port};
    REQUIRE(f.forwards().open(other));
    REQUIRE(f.aim(other.listen, f.address));
    const loopback_client client{SOCK_STREAM, "127.0.0.1", listen.port};
    tcp_server server{f};
    REQUIRE(server.accept());
    f.forwards().close(other.listen, [] {});
    client.say("still");
    CHECK(server.receive(5) == "still");
  }

  TEST_CASE("gtv#303: while its VM has no address a forward refuses, then it leads there, and on") {
    fixture f;
    const auto listen = f.open(forward_protocol::tcp);
    const auto refused = [&] {
      return !loopback_client{SOCK_STREAM, "127.0.0.1", listen.port}.connected();
    };
    CHECK(refused());
    for (const std::uint32_t number : {14U, 15U}) {
      const auto at = f.config.subnet.at(number);
      f.guest.send(arp_request(f.guest.mac, at, f.config.gateway));
      REQUIRE(f.aim(listen, at));
      const loopback_client client{SOCK_STREAM, "127.0.0.1", listen.port};
      tcp_server server{f, at};
      CHECK(server.accept());
    }
    REQUIRE(f.aim(listen, {}));
    CHECK(refused());
  }

  TEST_CASE("many clients at once need not wait for a retransmission of theirs") {
    fixture f;
    const auto listen = f.open(forward_protocol::tcp);
    REQUIRE(f.aim(listen, f.address));
    std::vector<loopback_client> crowd;
    for (int i = 0; i < 50; ++i) {
      owned_fd one{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
      const socket_address target{listen.address, listen.port};
      static_cast<void>(::connect(one.get(), target.get(), target.size));
      crowd.emplace_back(std::move(one));
    }
    for (const auto& one : crowd)
      CHECK(one.is_ready(POLLOUT, 0));
    f.guest.settle();
    CHECK(f.host.open_sockets() == 50);
  }

  TEST_CASE("lima#3152: UDP answers go to who has asked, hours after") {
    static std::chrono::steady_clock::time_point now;
    now = std::chrono::steady_clock::now();
    fixture f{{}, [] { return now; }};
    const auto listen = f.open(forward_protocol::udp);
    REQUIRE(f.aim(listen, f.address));
    const loopback_client client{SOCK_DGRAM, "127.0.0.1", listen.port};
    client.say("ping");
    std::optional<route> back;
    std::uint16_t caller = 0;
    REQUIRE(f.guest.await([&](const frame& bare) {
      const auto packet = parse_ipv4(bare);
      const auto datagram = packet ? parse_udp(*packet) : std::nullopt;
      if (!datagram || datagram->destination_port != vm_port)
        return false;
      back = packet->way.reversed();
      caller = datagram->source_port;
      return true;
    }));
    for (int i = 0; i < 3; ++i) {
      now += 1h;
      const std::string text = "pong";
      f.guest.send(udp(*back, vm_port, caller, std::as_bytes(std::span{text})));
      CHECK(client.hears(4) == "pong");
    }
  }

  TEST_CASE("two UDP forwards cannot share a VM's port, since answers would go astray") {
    fixture f;
    const auto one = f.open(forward_protocol::udp), two = f.open(forward_protocol::udp);
    REQUIRE(f.aim(one, f.address));
    const auto refused = f.aim(two, f.address);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text.find("only one may") != std::string::npos);
    REQUIRE(f.aim(one, {}));
    CHECK(f.aim(two, f.address));
  }

  TEST_CASE("a place is taken from open() on, with an address or without, and free after close()") {
    fixture f, other;
    for (const auto protocol : {forward_protocol::tcp, forward_protocol::udp}) {
      const auto listen = f.open(protocol);
      const forward_rule again{listen, {}, vm_port};
      if (protocol == forward_protocol::udp) // TCP sockets that do not listen share
        CHECK_FALSE(other.forwards().open(again));
      REQUIRE(f.aim(listen, f.address));
      const auto refused = other.forwards().open(again);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().text.find("Choose another port") != std::string::npos);
      REQUIRE(f.aim(listen, {}));
      REQUIRE(f.aim(listen, f.address));
      f.forwards().close(listen, [] {});
      CHECK(other.forwards().open(again));
    }
  }

  TEST_CASE("forwards outlive a restart of the backend") {
    fixture f;
    const auto tcp_place = f.open(forward_protocol::tcp);
    const auto udp_place = f.open(forward_protocol::udp);
    REQUIRE(f.aim(tcp_place, f.address));
    REQUIRE(f.aim(udp_place, f.address));
    f.host.stop();
    CHECK_FALSE(loopback_client{SOCK_STREAM, "127.0.0.1", tcp_place.port}.connected());
    REQUIRE(f.host.start(f.log));
    f.introduce();
    const loopback_client client{SOCK_STREAM, "127.0.0.1", tcp_place.port};
    tcp_server server{f};
    CHECK(server.accept());
  }

  TEST_CASE("a thousand connections leave no descriptor") {
    fixture f;
    const auto listen = f.open(forward_protocol::tcp);
    REQUIRE(f.aim(listen, f.address));
    f.guest.settle();
    const auto before = open_descriptors();
    for (int i = 0; i < 1000; ++i) {
      loopback_client client{SOCK_STREAM, "127.0.0.1", listen.port};
      tcp_server server{f};
      REQUIRE(server.accept());
      server.send(tcp_segment::rst | tcp_segment::ack);
      CHECK(client.sees() != ending::none);
    }
    f.guest.settle();
    CHECK(f.host.open_sockets() == 0);
    CHECK(open_descriptors() == before);
  }

  TEST_CASE("at the limit of connections none is accepted, and when one ends the next is") {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlimit few = limit;
    few.rlim_cur = 100; // half of it for libslirp, of that less than half for TCP
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    {
      fixture f;
      const auto listen = f.open(forward_protocol::tcp);
      REQUIRE(f.aim(listen, f.address));
      std::vector<loopback_client> crowd;
      for (int i = 0; i < 30; ++i)
        crowd.emplace_back(SOCK_STREAM, "127.0.0.1", listen.port);
      f.guest.settle();
      const auto most = f.host.open_sockets();
      CHECK(most < 30);
      CHECK(most > 10);
      CHECK_FALSE(is_readable(f.host.fd())); // the others do not keep it busy
      tcp_server{f}.refuse();
      f.guest.settle();
      CHECK(f.host.open_sockets() == most); // the next one has its place
    }
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }

  TEST_CASE("a process without descriptors does not spin over a caller, and serves it later") {
    fixture f;
    const auto listen = f.open(forward_protocol::tcp);
    REQUIRE(f.aim(listen, f.address));
    const loopback_client client{SOCK_STREAM, "127.0.0.1", listen.port};
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlimit none = limit;
    none.rlim_cur = 0;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    f.guest.settle(); // comes to an end
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(f.host.open_sockets() == 0);
    CHECK(f.await_segment(f.address));
  }

  TEST_CASE("idle: a forward that listens wakes nobody") {
    host_config config;
    config.ipv6 = false; // its advertisements have a timer of their own
    fixture f{config};
    const auto listen = f.open(forward_protocol::tcp);
    REQUIRE(f.aim(listen, f.address));
    f.guest.settle();
    pollfd watched{f.host.fd(), POLLIN, 0};
    CHECK(::poll(&watched, 1, 1200) == 0); // libslirp's clock would tick twice
  }

} // TEST_SUITE
