#include "transport/datagram_link.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/transport/datagram_fixture.hpp"
#include "tests/transport/wire.hpp"
#include "transport/unix_socket.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using fixture = datagram_fixture;
using dedication = datagram_endpoint::dedication;

namespace {

struct peers : fixture {
  unix_address address(const std::string& name) const {
    return unix_address::from_path(folder / name).value();
  }
  // A client that sends to the path, and is connected to nothing.
  owned_fd unconnected(const std::string& name) const {
    owned_fd vm = open_unix_socket(SOCK_DGRAM, blocking::no);
    REQUIRE(bind_unix_socket(vm.get(), address(name)) == 0);
    return vm;
  }
  void send_by_path(const owned_fd& vm) const {
    const auto server = address("s");
    REQUIRE(::sendto(vm.get(), frame.data(), frame.size(), 0, server.data(), server.length()) ==
            static_cast<ssize_t>(frame.size()));
  }
  // The next frame of a peer, and what comes of it.
  dedication hear(const std::string& name) {
    receive();
    REQUIRE_FALSE(from(name).frames.empty());
    return socket->dedicate(*target(name), *endpoint);
  }
  void settle() { receive(); }
  std::unique_ptr<datagram_link> link_to(const std::string& name) {
    return std::make_unique<datagram_link>(socket, target(name), endpoint);
  }
  const bytes frame = pattern(60);
};

bool is_writable(const datagram_link& self) {
  pollfd state{self.fd(), POLLOUT, 0};
  return ::poll(&state, 1, 0) == 1;
}

} // namespace

TEST_SUITE("datagram_socket: a peer that has its endpoint for itself") {
  TEST_CASE("a connected peer is read by its link when it speaks again") {
    peers f;
    const auto vm = f.met_client("vm");
    send(vm, f.frame);
    f.receive(); // before the endpoint was seen empty: it proves nothing
    CHECK(f.socket->dedicate(*f.target("vm"), *f.endpoint) == dedication::none);
    send(vm, f.frame);
    REQUIRE(f.hear("vm") == dedication::both);
    const auto link = f.link_to("vm");
    link->dedicate(true);
    CHECK(link->receives());
    int sent = 0;
    while (::send(vm.get(), f.frame.data(), f.frame.size(), MSG_DONTWAIT) > 0)
      ++sent;
    CHECK(sent > 50); // not 10
    CHECK(f.receive() == datagram_status::drained);
    std::size_t got = 0;
    bytes space(64 * 1024);
    for (auto result = link->read(space); result.status == io_status::ok;
         result = link->read(space))
      got += result.bytes;
    CHECK(got == static_cast<std::size_t>(sent) * (prefix_size + 60));
  }

  TEST_CASE("what was sent before the path led elsewhere proves no connection") {
    peers f;
    const auto vm = f.unconnected("vm");
    f.send_by_path(vm);
    f.receive();
    f.send_by_path(vm);
    f.endpoint = f.socket->claim();
    CHECK(f.hear("vm") == dedication::none);
  }

  TEST_CASE("a client that has connected without a word is not shut out") {
    peers f;
    const auto silent = f.client("silent");
    const auto vm = f.met_client("vm");
    f.settle();
    send(vm, f.frame);
    CHECK(f.hear("vm") == dedication::none);
    send(silent, f.frame);
    f.receive();
    CHECK_FALSE(f.from("silent").frames.empty());
    // Nor by one that is not connected at all.
    peers g;
    const auto quiet = g.client("quiet");
    const auto other = g.unconnected("other");
    g.send_by_path(other);
    g.receive();
    g.endpoint = g.socket->claim();
    g.send_by_path(other);
    CHECK(g.hear("other") == dedication::none);
    send(quiet, g.frame);
    g.receive();
    CHECK_FALSE(g.from("quiet").frames.empty());
  }

  TEST_CASE("a client that lets go right after it has spoken does not shut another one out") {
    peers f;
    const auto silent = f.client("silent");
    const auto vm = f.met_client("vm");
    f.settle();
    send(vm, f.frame);
    const sockaddr nobody{AF_UNSPEC, {}};
    REQUIRE(::connect(vm.get(), &nobody, sizeof nobody) == 0);
    // One client is left, as if it were the one that was heard.
    CHECK(f.hear("vm") == dedication::none);
    send(silent, f.frame);
    f.receive();
    CHECK_FALSE(f.from("silent").frames.empty());
  }

  TEST_CASE("what an unconnected peer has sent before the path led elsewhere comes first") {
    for (int round = 0; round < 20; ++round) {
      peers f;
      const auto vm = f.unconnected("vm");
      f.send_by_path(vm);
      f.receive();
      frame_list sent, heard;
      const auto send_numbered = [&](unsigned number) {
        const auto server = f.address("s");
        const auto numbered = pattern(60, number);
        REQUIRE(::sendto(vm.get(), numbered.data(), 60, 0, server.data(), server.length()) == 60);
        sent.push_back(numbered);
      };
      send_numbered(1);
      send_numbered(2);
      f.endpoint = f.socket->claim();
      send_numbered(3);
      send_numbered(4);
      while (f.receive() == datagram_status::more)
        for (const auto& arrival : f.batch.arrivals)
          for (const auto& each : frames_of(arrival.frames))
            heard.push_back(each);
      CHECK(heard == sent);
    }
  }

  TEST_CASE(
      "an endpoint that is a peer's own tells when the peer has gone, whatever its name does") {
    peers f;
    auto vm = f.met_client("vm");
    f.settle();
    send(vm, f.frame);
    REQUIRE(f.hear("vm") == dedication::both);
    ::unlink((f.folder / "vm").c_str());
    CHECK_FALSE(f.endpoint->abandoned());
    vm.reset();
    CHECK(f.endpoint->abandoned());
  }

  TEST_CASE("an unconnected peer is still heard at the path, and tells when it has room") {
    peers f;
    const auto vm = f.unconnected("vm");
    f.send_by_path(vm);
    f.receive();
    f.endpoint = f.socket->claim();
    f.send_by_path(vm);
    REQUIRE(f.hear("vm") == dedication::sends);
    const auto link = f.link_to("vm");
    link->dedicate(false);
    CHECK(link->tells_writable());
    CHECK_FALSE(link->receives());
    bytes answers;
    for (int i = 0; i < 500; ++i)
      append_wire(answers, pattern(60));
    const iovec all{answers.data(), answers.size()};
    REQUIRE(link->write({&all, 1}).bytes < answers.size());
    CHECK(link->write({&all, 1}).status == io_status::would_block);
    CHECK_FALSE(is_writable(*link));
    CHECK_FALSE(receive_all(vm).empty());
    CHECK(is_writable(*link));
    f.send_by_path(vm);
    f.receive();
    CHECK_FALSE(f.from("vm").frames.empty());
  }

  TEST_CASE("a link reads what a socket would: no greeting, nothing empty, nothing too large") {
    peers f;
    const auto vm = f.met_client("vm");
    f.settle();
    send(vm, f.frame);
    REQUIRE(f.hear("vm") == dedication::both);
    const auto link = f.link_to("vm");
    link->dedicate(true);
    bytes expected;
    for (const std::size_t size : {60UL, 1518UL, 14UL}) {
      send(vm, pattern(size));
      append_wire(expected, pattern(size));
    }
    send(vm, bytes{});
    send(vm, bytes{std::byte{'V'}, std::byte{'F'}, std::byte{'K'}, std::byte{'T'}});
    send(vm, pattern(1519));
    send(vm, pattern(13)); // for the codec to count
    append_wire(expected, pattern(13));
    bytes space(64 * 1024);
    const auto result = link->read(space);
    CHECK(result.status == io_status::ok);
    CHECK(result.refused == frame_tally{1, 1519});
    space.resize(result.bytes);
    CHECK(space == expected);
    CHECK(link->read(space).status == io_status::would_block);
  }

  TEST_CASE("a peer that has gone is closed by the next frame to it") {
    peers f;
    auto vm = f.met_client("vm");
    f.settle();
    send(vm, f.frame);
    REQUIRE(f.hear("vm") == dedication::both);
    const auto link = f.link_to("vm");
    link->dedicate(true);
    vm.reset();
    vm = f.client("vm"); // started anew under its name
    bytes answer = wire(pattern(60));
    const iovec all{answer.data(), answer.size()};
    CHECK(link->write({&all, 1}).status == io_status::closed);
  }
}
