#include <vector>

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "tests/vmnet/loopback_peer.hpp"
#include "tests/vmnet/nat_fixture.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr std::uint16_t vm_port = 40000;

/// A VM's side of one TCP connection to the gateway.
class tcp_client {
public:
  tcp_client(nat_fixture& nat, std::uint16_t server_port, std::uint16_t own_port = vm_port)
      : nat_{nat}, own_port_{own_port}, server_port_{server_port} {
    nat.introduce();
  }

  /// SYN, and ACK of the answer. False if there is no SYN/ACK.
  bool connect() {
    const auto answer = exchange(tcp_segment::syn);
    if (!answer || answer->flags != (tcp_segment::syn | tcp_segment::ack))
      return false;
    ++next_;
    expected_ = answer->sequence + 1;
    send(tcp_segment::ack);
    return true;
  }
  void send(std::uint8_t flags, const std::string& data = {}) {
    nat_.guest.send(tcp(nat_.way_to_gateway(), segment(flags, data)));
    next_ += static_cast<std::uint32_t>(data.size());
  }
  std::optional<tcp_segment> exchange(std::uint8_t flags) {
    return nat_.guest.exchange(nat_.way_to_gateway(), segment(flags, {}));
  }
  /// Receives and acknowledges until that many bytes are there.
  std::string receive(std::size_t bytes) {
    std::string all;
    while (all.size() < bytes) {
      const auto got = nat_.guest.await_tcp(own_port_);
      if (!got)
        break;
      if (got->sequence != expected_ || got->data.empty())
        continue;
      all += got->data;
      expected_ += static_cast<std::uint32_t>(got->data.size());
      send(tcp_segment::ack);
    }
    return all;
  }
  tcp_segment segment(std::uint8_t flags, const std::string& data) const {
    return {own_port_, server_port_, next_, expected_, flags, 65535, data};
  }
  std::uint32_t next() const { return next_; }

private:
  nat_fixture& nat_;
  std::uint16_t own_port_;
  std::uint16_t server_port_;
  std::uint32_t next_ = 1000;
  std::uint32_t expected_ = 0;
};

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span{text});
}

host_config without_loopback() {
  host_config config;
  config.host_loopback = false;
  return config;
}

} // namespace

TEST_SUITE("connections of the user host") {
  TEST_CASE("a VM talks over TCP to a server on the host's loopback through the gateway") {
    nat_fixture nat;
    loopback_peer server{loopback_peer::kind::tcp_listener};
    tcp_client client{nat, server.port()};
    REQUIRE(client.connect());
    const owned_fd connection = server.accept();
    REQUIRE(connection);

    client.send(tcp_segment::ack | tcp_segment::psh, "hello");
    CHECK(loopback_peer::receive(connection, 5) == "hello");
    const std::string answer(100'000, 'a');
    std::size_t sent = 0;
    std::string received;
    while (sent < answer.size()) {
      const auto step = ::send(connection.get(), answer.data() + sent,
                               std::min<std::size_t>(20'000, answer.size() - sent), 0);
      REQUIRE(step > 0);
      received += client.receive(static_cast<std::size_t>(step));
      sent += static_cast<std::size_t>(step);
    }
    CHECK(received == answer);

    client.send(tcp_segment::ack | tcp_segment::fin);
    CHECK(loopback_peer::sees_end(connection));
  }

  TEST_CASE("the server's end of a connection reaches the VM") {
    nat_fixture nat;
    loopback_peer server{loopback_peer::kind::tcp_listener};
    tcp_client client{nat, server.port()};
    REQUIRE(client.connect());
    server.accept().reset();
    std::optional<tcp_segment> last;
    do
      last = nat.guest.await_tcp(vm_port);
    while (last && (last->flags & tcp_segment::fin) == 0);
    CHECK(last);
  }

  TEST_CASE("a port where nobody listens is refused with a reset that fits the SYN") {
    nat_fixture nat;
    std::uint16_t closed_port = 0;
    {
      loopback_peer gone{loopback_peer::kind::tcp_listener};
      closed_port = gone.port();
    }
    tcp_client client{nat, closed_port};
    const auto answer = client.exchange(tcp_segment::syn);
    REQUIRE(answer);
    CHECK((answer->flags & tcp_segment::rst) != 0);
    CHECK(answer->acknowledged == client.next() + 1);
    nat.guest.settle();
    CHECK(nat.host.open_sockets() == 0);
  }

  TEST_CASE("with host_loopback off nobody gets to the host's loopback, under whatever address") {
    loopback_peer server{loopback_peer::kind::tcp_listener};
    nat_fixture nat{without_loopback()};
    nat.introduce();
    for (const auto* address : {"192.168.105.1", "127.0.0.1", "127.8.8.8", "0.0.0.0",
                                "192.168.105.3", "255.255.255.255", "192.168.105.255"}) {
      CAPTURE(address);
      const auto way = nat.way_to(ipv4_address::parse(address).value());
      nat.guest.send(tcp(way, {vm_port, server.port(), 1, 0, tcp_segment::syn, 65535, ""}));
      nat.guest.settle();
      CHECK(!server.has_visitor());
      CHECK(nat.host.open_sockets() == 0);
    }
  }

  TEST_CASE("even with host_loopback on, 127.0.0.1 itself is not a way in") {
    loopback_peer server{loopback_peer::kind::tcp_listener};
    nat_fixture nat;
    const auto way = nat.way_to(ipv4_address::parse("127.0.0.1").value());
    CHECK(nat.guest.send(tcp(way, {vm_port, server.port(), 1, 0, tcp_segment::syn, 65535, ""})) ==
          1);
    CHECK(!server.has_visitor());
  }

  TEST_CASE("UDP reaches the host's loopback and comes back, message after message") {
    nat_fixture nat;
    nat.introduce();
    loopback_peer server{loopback_peer::kind::udp};
    for (int i = 0; i < 50; ++i) {
      const auto text = "message " + std::to_string(i);
      nat.guest.send(udp(nat.way_to_gateway(), vm_port, server.port(), as_bytes(text)));
      REQUIRE(server.echo_datagram());
      const auto expected = "echo " + text;
      const auto answer = nat.guest.await([&](const frame& bare) {
        const auto packet = parse_ipv4(bare);
        const auto datagram = packet ? parse_udp(*packet) : std::nullopt;
        return datagram && datagram->destination_port == vm_port &&
               datagram->source_port == server.port() &&
               std::ranges::equal(datagram->payload, as_bytes(expected));
      });
      REQUIRE(answer);
    }
    CHECK(nat.host.open_sockets() == 1);
  }

  TEST_CASE("a UDP flow that begins after an idle hour is not taken for an old one") {
    static std::chrono::hours passed{0};
    frame_log log;
    user_host host{host_config{}, [] { return user_host::clock::now() + passed; }};
    REQUIRE(host.start(log));
    nat_guest guest{host, log};
    loopback_peer server{loopback_peer::kind::udp}, other_server{loopback_peer::kind::udp};
    const host_config config;
    const route way{guest.mac, user_mac_for(config.gateway), config.subnet.at(14), config.gateway};
    guest.send(arp_request(guest.mac, way.source, way.destination));
    guest.settle();
    passed = std::chrono::hours{1};
    const auto is_answered = [&](const loopback_peer& by) {
      return guest.await([&](const frame& bare) {
        const auto packet = parse_ipv4(bare);
        const auto datagram = packet ? parse_udp(*packet) : std::nullopt;
        return datagram && datagram->source_port == by.port();
      });
    };
    guest.send(udp(way, vm_port, server.port(), {}));
    guest.send(udp(way, vm_port + 1, other_server.port(), {}));
    REQUIRE(other_server.echo_datagram());
    CHECK(is_answered(other_server)); // which makes libslirp look at its flows
    REQUIRE(server.echo_datagram());
    CHECK(is_answered(server));
  }

  TEST_CASE("a watcher of edges learns of everything, however much is ready at once") {
    nat_fixture nat;
    nat.introduce();
    nat.guest.settle();
    const owned_fd watcher{::epoll_create1(EPOLL_CLOEXEC)};
    epoll_event edge{};
    edge.events = EPOLLIN | EPOLLET;
    REQUIRE(::epoll_ctl(watcher.get(), EPOLL_CTL_ADD, nat.host.fd(), &edge) == 0);
    const auto work_on_edge = [&](int patience) {
      if (::epoll_wait(watcher.get(), &edge, 1, patience) != 1)
        return false;
      while (nat.host.process().value_or(false))
        ;
      return true;
    };
    work_on_edge(0);

    constexpr std::uint16_t flows = 200;
    loopback_peer server{loopback_peer::kind::udp};
    std::size_t answers = 0;
    const auto count_answers = [&] {
      for (const auto& bare : nat.log.frames)
        if (const auto packet = parse_ipv4(bare); packet && parse_udp(*packet))
          ++answers;
      nat.log.frames.clear();
    };
    for (int round = 0; round < 5; ++round) {
      for (std::uint16_t i = 0; i < flows; ++i)
        nat.guest.send(
            udp(nat.way_to_gateway(), static_cast<std::uint16_t>(20000 + i), server.port(), {}));
      for (std::uint16_t i = 0; i < flows; ++i)
        REQUIRE(server.echo_datagram());
      // Frames that come in first take a share of what is ready, and not all of it.
      nat.guest.send(arp_request(nat.guest.mac, nat.address, nat.config.gateway));
      answers = 0;
      count_answers();
      // libslirp's ticks are edges as well: without a limit they would hide one that is missing.
      for (int edges = 0; answers < flows && edges < 3 && work_on_edge(2000); ++edges)
        count_answers();
      CHECK(answers == flows);
    }
  }

  TEST_CASE("TCP urgent data, which libslirp mishandles, is refused") {
    nat_fixture nat;
    loopback_peer server{loopback_peer::kind::tcp_listener};
    tcp_client client{nat, server.port()};
    REQUIRE(client.connect());
    const auto urgent = client.segment(tcp_segment::ack | tcp_segment::urg, "x");
    CHECK(nat.guest.send(tcp(nat.way_to_gateway(), urgent)) == 1);
  }

  TEST_CASE("a server that resets while all buffers are full does not end the process") {
    nat_fixture nat;
    loopback_peer server{loopback_peer::kind::tcp_listener};
    tcp_client client{nat, server.port()};
    REQUIRE(client.connect());
    owned_fd connection = server.accept();
    REQUIRE(connection);
    // At an mtu of 1500 libslirp's buffer has 131400 bytes, and it reads multiples of 1440 until it
    // is half full. So these two steps fill it to the last byte.
    constexpr std::size_t first = 131'400 - 51 * 1440;
    const std::string block(200'000, 'b');
    REQUIRE(::send(connection.get(), block.data(), first, 0) == first);
    nat.guest.settle();
    REQUIRE(::send(connection.get(), block.data(), block.size(), MSG_DONTWAIT) > 51 * 1440);
    nat.guest.settle();
    connection.reset();
    client.send(tcp_segment::ack, "x"); // reaches nobody, and is answered by a reset
    client.send(tcp_segment::ack, "y"); // finds the reset, and waits to be written
    nat.guest.settle();
    nat.guest.send(icmp_echo(nat.way_to_gateway(), {}));
    CHECK(nat.guest.await([](const frame& bare) {
      const auto packet = parse_ipv4(bare);
      return packet && parse_icmp_echo(*packet);
    }));
  }

  TEST_CASE("stopping with live connections closes them and leaks no descriptor") {
    loopback_peer server{loopback_peer::kind::tcp_listener};
    loopback_peer udp_server{loopback_peer::kind::udp};
    const auto before = open_descriptors();
    {
      std::vector<owned_fd> accepted;
      nat_fixture nat;
      nat.introduce();
      for (std::uint16_t i = 0; i < 5; ++i) {
        tcp_client client{nat, server.port(), static_cast<std::uint16_t>(vm_port + i)};
        REQUIRE(client.connect());
        accepted.push_back(server.accept());
        nat.guest.send(udp(nat.way_to_gateway(), static_cast<std::uint16_t>(50000 + i),
                           udp_server.port(), {}));
      }
      CHECK(nat.host.open_sockets() == 10);
      nat.host.stop();
      for (const auto& connection : accepted)
        CHECK(loopback_peer::sees_end(connection));
    }
    CHECK(open_descriptors() == before);
  }

  TEST_CASE("a VM that opens ever more UDP flows is stopped at the limit; those that exist go on") {
    nat_fixture nat;
    nat.introduce();
    loopback_peer server{loopback_peer::kind::udp};
    const auto flow = [&](std::uint16_t port) {
      return udp(nat.way_to_gateway(), port, server.port(), {});
    };
    std::vector<std::string> notes;
    nat.host.on_notes([&](const service_note& note) { notes.push_back(note.text); });
    std::size_t refused = 0;
    for (std::uint16_t i = 0; i < 3000; ++i)
      refused += nat.guest.send(flow(static_cast<std::uint16_t>(10000 + i)));
    const auto open = nat.host.open_sockets();
    CHECK(open == 512);
    CHECK(open + refused == 3000);
    CHECK(nat.guest.send(flow(10000)) == 0);
    CHECK(nat.guest.send(flow(9999)) == 1);
    CHECK(nat.host.open_sockets() == open);
    REQUIRE(!notes.empty());
    CHECK(notes[0].find(to_string(nat.guest.mac)) != std::string::npos);
  }

  TEST_CASE("a VM that has taken all it may, and is gone, leaves others their connections") {
    nat_fixture nat;
    nat.introduce();
    loopback_peer server{loopback_peer::kind::tcp_listener};
    loopback_peer udp_server{loopback_peer::kind::udp};
    auto greedy = nat.way_to_gateway();
    greedy.source_mac = mac_address::from_integer(0x5254'0000'0666);
    greedy.source = nat.config.subnet.at(66);
    for (std::uint16_t i = 0; i < 1500; ++i) {
      const auto port = static_cast<std::uint16_t>(10000 + i);
      nat.guest.send(tcp(greedy, {port, server.port(), 1, 0, tcp_segment::syn, 65535, ""}));
      nat.guest.send(udp(greedy, port, udp_server.port(), {}));
    }
    CHECK(nat.host.open_sockets() <= 1024);
    nat.log.frames.clear();
    for (std::uint16_t i = 0; i < 100; ++i) {
      const auto port = static_cast<std::uint16_t>(vm_port + i);
      CHECK(nat.guest.send(tcp(nat.way_to_gateway(),
                               {port, server.port(), 1, 0, tcp_segment::syn, 65535, ""})) == 0);
      CHECK(nat.guest.send(udp(nat.way_to_gateway(), port, udp_server.port(), {})) == 0);
    }
  }

  TEST_CASE("the process keeps half of its descriptors when it has few") {
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlimit few = limit;
    few.rlim_cur = 100;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    {
      nat_fixture nat;
      nat.introduce();
      for (std::uint16_t i = 0; i < 300; ++i)
        nat.guest.send(udp(nat.way_to_gateway(), static_cast<std::uint16_t>(10000 + i), 9, {}));
      CHECK(nat.host.open_sockets() > 10);
      CHECK(open_descriptors() < 70);
    }
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }
}
