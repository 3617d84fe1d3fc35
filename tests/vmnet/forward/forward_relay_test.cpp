#include "vmnet/forward/forward_relay.hpp"

#include <atomic>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "tests/vmnet/forward/loopback_client.hpp"
#include "tests/vmnet/loopback_peer.hpp"
#include "tests/vmnet/nat_fixture.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;
using ending = loopback_client::ending;

namespace {

constexpr auto here = "127.0.0.1";

struct bench {
  explicit bench(const relay_limits& limits = {}) : relay{limits} {}

  forward_listen open(forward_protocol protocol, std::uint16_t to_port, const char* address = here,
                      const char* to = here) {
    const forward_rule rule{{protocol, address_of(address), free_port(protocol)}, {}, to_port};
    const auto opened = relay.open(rule);
    REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().text));
    if (to != nullptr)
      REQUIRE(relay.aim(rule.listen, address_of(to)));
    return rule.listen;
  }
  forward_listen open_tcp(const char* address = here, const char* to = here) {
    return open(forward_protocol::tcp, vm.port(), address, to);
  }
  loopback_client client(const forward_listen& listen) {
    return {listen.protocol == forward_protocol::tcp ? SOCK_STREAM : SOCK_DGRAM,
            to_string(listen.address).c_str(), listen.port};
  }
  forward_traffic traffic(const forward_listen& listen) const {
    return relay.traffic(listen).value();
  }

  loopback_peer vm{loopback_peer::kind::tcp_listener}; // a VM's server
  forward_relay relay;
};

} // namespace

TEST_SUITE("forward relay") {

  TEST_CASE("TCP: bytes go both ways, and are counted") {
    bench b;
    const auto listen = b.open_tcp();
    const auto client = b.client(listen);
    const loopback_client server{b.vm.accept()};
    client.say("hello");
    CHECK(server.hears(5) == "hello");
    server.say("welcome");
    CHECK(client.hears(7) == "welcome");
    CHECK(eventually([&] { return b.traffic(listen).bytes_from_vm == 7; }));
    CHECK(b.traffic(listen).bytes_to_vm == 5);
    CHECK(b.traffic(listen).open == 1);
    CHECK(b.traffic(listen).accepted == 1);
  }

  TEST_CASE("TCP: a client that has ended its side still gets the answer, all of it") {
    bench b;
    const auto listen = b.open_tcp();
    const auto client = b.client(listen);
    const loopback_client server{b.vm.accept()};
    client.say("question");
    client.ends();
    CHECK(server.hears(100) == "question"); // until its end
    const std::string answer(3'000'000, 'a');
    std::thread sender{[&] {
      std::size_t sent = 0;
      while (sent < answer.size()) {
        const auto step = ::send(server.fd(), answer.data() + sent, answer.size() - sent, 0);
        if (step <= 0)
          break;
        sent += static_cast<std::size_t>(step);
      }
      server.ends();
    }};
    CHECK(client.hears(answer.size() + 1) == answer);
    sender.join();
    CHECK(eventually([&] { return b.traffic(listen).open == 0; }));
  }

  TEST_CASE("TCP: a slow reader slows its sender, and loses nothing") {
    bench b;
    const auto listen = b.open_tcp();
    const auto client = b.client(listen);
    const loopback_client server{b.vm.accept()};
    ::fcntl(client.fd(), F_SETFL, O_NONBLOCK);
    const std::string block(65536, 's');
    std::size_t sent = 0;
    for (bool stalls = false; !stalls;) {
      const auto step = ::send(client.fd(), block.data(), block.size(), MSG_NOSIGNAL);
      sent += step > 0 ? static_cast<std::size_t>(step) : 0;
      stalls = step < 0 && !client.is_ready(POLLOUT, 300);
    }
    CHECK(sent < 32 << 20); // what kernel buffers hold on the way, and one read of ours
    client.ends();
    std::size_t received = 0;
    while (received < sent) {
      const auto part = server.hears(std::min<std::size_t>(sent - received, 1 << 20));
      if (part.empty())
        break;
      received += part.size();
    }
    CHECK(received == sent);
    CHECK(server.sees() == ending::orderly);
  }

  TEST_CASE("TCP: a connection that breaks on one side is reset on the other") {
    bench b;
    const auto listen = b.open_tcp();
    SUBCASE("the client") {
      auto client = b.client(listen);
      const loopback_client server{b.vm.accept()};
      client.resets();
      CHECK(server.sees() == ending::reset);
    }
    SUBCASE("the VM") {
      const auto client = b.client(listen);
      loopback_client server{b.vm.accept()};
      server.resets();
      CHECK(client.sees() == ending::reset);
    }
    SUBCASE("a client that is not read, since the VM does not") {
      auto client = b.client(listen);
      const loopback_client server{b.vm.accept()};
      ::fcntl(client.fd(), F_SETFL, O_NONBLOCK);
      const std::string block(65536, 's');
      while (client.is_ready(POLLOUT, 300))
        ::send(client.fd(), block.data(), block.size(), MSG_NOSIGNAL);
      client.resets();
      CHECK(eventually([&] { return b.traffic(listen).open == 0; }));
    }
    SUBCASE("a client that had ended its side") {
      auto client = b.client(listen);
      const loopback_client server{b.vm.accept()};
      client.ends();
      CHECK(server.hears(1).empty());
      client.resets();
    }
    CHECK(eventually([&] { return b.traffic(listen).open == 0; }));
  }

  TEST_CASE("TCP: without an address, and where the VM refuses, clients are reset at once") {
    bench b;
    const auto waiting = b.open_tcp(here, nullptr);
    CHECK(b.client(waiting).sees() == ending::reset);
    const auto nobody = b.open(forward_protocol::tcp, free_port());
    CHECK(b.client(nobody).sees() == ending::reset);
    CHECK(eventually([&] { return b.traffic(nobody).refused == 1; }));
    CHECK(b.traffic(waiting).refused == 1);
    // Then it gets one.
    REQUIRE(b.relay.aim(waiting, address_of(here)));
    const auto client = b.client(waiting);
    const loopback_client server{b.vm.accept()};
    client.say("x");
    CHECK(server.hears(1) == "x");
    // And loses it: what is there stays.
    REQUIRE(b.relay.aim(waiting, {}));
    CHECK(b.client(waiting).sees() == ending::reset);
    client.say("y");
    CHECK(server.hears(1) == "y");
  }

  TEST_CASE("TCP: a VM that does not answer is given up after a while") {
    relay_limits limits;
    limits.connect_time = 50ms;
    bench b{limits};
    // Its queue is full: the system answers no more connections.
    const loopback_peer full{loopback_peer::kind::tcp_listener};
    std::vector<loopback_client> crowd;
    for (int i = 0; i < 12; ++i) {
      const socket_address target{address_of(here), full.port()};
      owned_fd one{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
      static_cast<void>(::connect(one.get(), target.get(), target.size));
      crowd.emplace_back(std::move(one));
    }
    const auto listen = b.open(forward_protocol::tcp, full.port());
    CHECK(b.client(listen).sees() == ending::reset);
  }

  TEST_CASE("lima#4979: a ::1 forward leads to an IPv4 server") {
    bench b;
    const auto listen = b.open_tcp("::1");
    const auto client = b.client(listen);
    REQUIRE(client.connected());
    const loopback_client server{b.vm.accept()};
    client.say("six to four");
    CHECK(server.hears(11) == "six to four");
  }

  TEST_CASE("a thousand connections, one after the other, leave no descriptor") {
    bench b;
    const auto listen = b.open_tcp();
    b.client(listen);
    b.vm.accept();
    REQUIRE(
        eventually([&] { return b.traffic(listen).accepted == 1 && b.traffic(listen).open == 0; }));
    const auto before = open_descriptors(); // with what the relay itself has
    for (int i = 0; i < 1000; ++i) {
      const auto client = b.client(listen);
      loopback_client server{b.vm.accept()};
      if (i % 3 == 0)
        server.resets();
      else
        client.ends();
    }
    // The VM's side of the last may be there before the relay has counted it.
    CHECK(eventually([&] { return b.traffic(listen).accepted == 1001; }));
    CHECK(eventually([&] { return b.traffic(listen).open == 0; }));
    CHECK(eventually([&] { return open_descriptors() == before; }));
  }

  TEST_CASE("at the limit of connections a client is reset, and served when there is room") {
    relay_limits limits;
    SUBCASE("of one forward") {
      limits.each = 2;
    }
    SUBCASE("of all") {
      limits.total = 2;
    }
    bench b{limits};
    const auto listen = b.open_tcp();
    const auto first = b.client(listen);
    auto second = b.client(listen);
    const loopback_client a{b.vm.accept()}, c{b.vm.accept()};
    CHECK(b.client(listen).sees() == ending::reset);
    second.resets();
    CHECK(eventually([&] { return b.traffic(listen).open == 1; }));
    const auto third = b.client(listen);
    const loopback_client server{b.vm.accept()};
    third.say("x");
    CHECK(server.hears(1) == "x");
  }

  TEST_CASE("a process without descriptors does not spin, and goes on when it has some") {
    bench b;
    const auto listen = b.open_tcp();
    const loopback_client early = b.client(listen);
    loopback_client late{owned_fd{::socket(AF_INET, SOCK_STREAM, 0)}};
    const owned_fd served = b.vm.accept();
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    rlimit few = limit;
    few.rlim_cur = 0; // no new ones
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const socket_address target{address_of(here), listen.port};
    const bool connected = ::connect(late.fd(), target.get(), target.size) == 0;
    timespec begin{}, end{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    std::this_thread::sleep_for(300ms); // nothing can be seen but that nothing happens
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(connected);
    CHECK((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1'000'000 < 100);
    const loopback_client server{b.vm.accept()};
    late.say("x");
    CHECK(server.hears(1) == "x");
  }

  TEST_CASE("a place that is taken, privileged or not ours is refused in words") {
    bench b;
    const auto refused = [&](const char* address, std::uint16_t port) {
      const auto opened = b.relay.open({{forward_protocol::tcp, address_of(address), port}, {}, 1});
      return opened ? std::string{} : opened.error().text;
    };
    const auto taken = refused(here, b.vm.port());
    CHECK(taken.find("127.0.0.1:" + std::to_string(b.vm.port())) != std::string::npos);
    CHECK(taken.find("Choose another port") != std::string::npos);
    CHECK(refused("192.0.2.1", free_port()).find("no address of this host") != std::string::npos);
    const auto privileged = cannot_listen({forward_protocol::udp, address_of(here), 53}, EACCES);
    CHECK(privileged.value().text.find("ip_unprivileged_port_start=53") != std::string::npos);
  }

  TEST_CASE("a forward that is closed ends its connections, and its place is free") {
    bench b;
    const auto listen = b.open_tcp();
    const auto client = b.client(listen);
    const loopback_client server{b.vm.accept()};
    std::atomic<bool> closed{false};
    b.relay.close(listen, [&] { closed = true; });
    CHECK(eventually([&] { return closed.load(); }));
    CHECK(client.sees() == ending::reset);
    CHECK(server.sees() == ending::reset);
    CHECK(b.relay.open({listen, {}, b.vm.port()}));
  }

  TEST_CASE("the end of the relay is the end of its connections") {
    const auto before = open_descriptors();
    {
      auto b = std::make_unique<bench>();
      const auto client = b->client(b->open_tcp());
      const loopback_client server{b->vm.accept()};
      b.reset();
      CHECK(client.sees() == ending::reset);
    }
    CHECK(open_descriptors() == before);
  }

  TEST_CASE("UDP: each client gets the answers to its own datagrams") {
    bench b;
    loopback_peer vm{loopback_peer::kind::udp};
    for (const auto* address : {here, "0.0.0.0", "::1", "::"}) {
      CAPTURE(std::string{address});
      const auto listen = b.open(forward_protocol::udp, vm.port(), address);
      const auto at = listen.address == address_of("::")        ? "::1"
                      : listen.address == address_of("0.0.0.0") ? "127.0.0.7"
                                                                : address;
      const loopback_client one{SOCK_DGRAM, at, listen.port}, two{SOCK_DGRAM, at, listen.port};
      one.say("one");
      REQUIRE(vm.echo_datagram());
      two.say("two");
      REQUIRE(vm.echo_datagram());
      // Connected sockets: only what comes from where they have sent to arrives.
      CHECK(one.hears(8) == "echo one");
      CHECK(two.hears(8) == "echo two");
      CHECK(eventually([&] { return b.traffic(listen).bytes_from_vm == 16; }));
      CHECK(b.traffic(listen).open == 2);
    }
  }

  TEST_CASE("UDP: a silent flow is forgotten after its time, and a new one is made") {
    relay_limits limits;
    limits.flow_time = 50ms;
    bench b{limits};
    loopback_peer vm{loopback_peer::kind::udp};
    const auto listen = b.open(forward_protocol::udp, vm.port());
    const auto client = b.client(listen);
    for (int i = 0; i < 2; ++i) {
      client.say("x");
      REQUIRE(vm.echo_datagram());
      CHECK(client.hears(6) == "echo x");
      CHECK(eventually([&] { return b.traffic(listen).open == 0; }));
    }
    CHECK(b.traffic(listen).accepted == 2);
  }

  TEST_CASE("UDP: a VM that refuses for a while does not end the flow") {
    bench b;
    const auto port = free_port(forward_protocol::udp);
    const auto listen = b.open(forward_protocol::udp, port);
    const auto client = b.client(listen);
    client.say("lost");
    CHECK(eventually([&] { return b.traffic(listen).bytes_to_vm == 4; }));
    const owned_fd vm{::socket(AF_INET, SOCK_DGRAM, 0)};
    const socket_address place{address_of(here), port};
    REQUIRE(::bind(vm.get(), place.get(), place.size) == 0);
    client.say("found");
    pollfd watched{vm.get(), POLLIN, 0};
    CHECK(::poll(&watched, 1, 5000) == 1);
    CHECK(b.traffic(listen).accepted == 1);
  }

  TEST_CASE("UDP: flows follow the forward to another VM, and are limited") {
    relay_limits limits;
    limits.each = 1;
    bench b{limits};
    loopback_peer vm{loopback_peer::kind::udp};
    const auto listen = b.open(forward_protocol::udp, vm.port(), here, nullptr);
    const auto client = b.client(listen), other = b.client(listen);
    client.say("to nobody");
    CHECK(eventually([&] { return b.traffic(listen).refused == 1; }));
    REQUIRE(b.relay.aim(listen, address_of(here)));
    client.say("a");
    REQUIRE(vm.echo_datagram());
    CHECK(client.hears(6) == "echo a");
    other.say("too many");
    CHECK(eventually([&] { return b.traffic(listen).refused == 2; }));
    REQUIRE(b.relay.aim(listen, {}));
    client.say("b");
    CHECK(eventually([&] { return b.traffic(listen).refused == 3; }));
    CHECK_FALSE(vm.has_visitor());
  }

} // TEST_SUITE
