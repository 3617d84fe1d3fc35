#include "transport/datagram_socket.hpp"

#include <filesystem>
#include <fstream>

#include <cerrno>
#include <cstring>

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
using status = datagram_status;

TEST_SUITE("datagram_socket") {

  TEST_CASE("datagrams become frames in wire form, in order") {
    fixture f;
    const auto vm = f.client("vm");
    for (const std::size_t size : {60, 1514, 14, 1518, 600})
      send(vm, pattern(size, static_cast<unsigned>(size)));
    CHECK(f.receive() == status::more);
    REQUIRE(f.batch.arrivals.size() == 1);
    CHECK(frames_of(f.from("vm").frames) == frame_list{pattern(60, 60), pattern(1514, 1514 & ~0U),
                                                       pattern(14, 14), pattern(1518, 1518),
                                                       pattern(600, 600)});
    CHECK(f.receive() == status::drained);
    CHECK(f.batch.arrivals.empty());
  }

  TEST_CASE("every datagram is a frame of its own, whatever a stream would make of it "
            "(gvisor-tap-vsock#116)") {
    fixture f;
    const auto vm = f.client("vm");
    bytes looks_like_a_header(20);
    write_prefix(looks_like_a_header.data(), 1000);
    send(vm, looks_like_a_header);
    send(vm, pattern(60));
    f.receive();
    CHECK(frames_of(f.from("vm").frames) == frame_list{looks_like_a_header, pattern(60)});
  }

  TEST_CASE("every client is a peer of its own (gvisor-tap-vsock#383)") {
    fixture f;
    const auto first = f.client("first");
    const auto second = f.client("second");
    send(first, pattern(60, 1));
    send(second, pattern(61, 2));
    send(first, pattern(1000, 3));
    send(second, pattern(63, 4));
    f.receive();
    REQUIRE(f.batch.arrivals.size() == 2);
    CHECK(frames_of(f.from("first").frames) == frame_list{pattern(60, 1), pattern(1000, 3)});
    CHECK(frames_of(f.from("second").frames) == frame_list{pattern(61, 2), pattern(63, 4)});
    f.endpoint = f.socket->claim(); // both connected to it
    bytes to_first = wire(pattern(70, 1));
    bytes to_second = wire(pattern(70, 2));
    CHECK(send_wire(f, "first", to_first).bytes == 74);
    CHECK(send_wire(f, "second", to_second).bytes == 74);
    CHECK(receive_all(first) == to_first);
    CHECK(receive_all(second) == to_second);
  }

  TEST_CASE("small frames stand together, so that a slab holds many") {
    fixture f;
    const auto vm = f.client("vm");
    for (int i = 0; i < 5; ++i)
      send(vm, pattern(60));
    f.receive();
    CHECK(f.from("vm").frames.ranges().size() == 1);
    CHECK(f.used == 5 * 64);
  }

  TEST_CASE("bytes that were handed out are not written again") {
    fixture f;
    const auto vm = f.client("vm");
    send(vm, pattern(1000, 1));
    send(vm, pattern(60, 2));
    f.receive();
    const burst first = f.from("vm").frames;
    for (int i = 0; i < 3; ++i)
      send(vm, pattern(100, 7));
    f.receive();
    CHECK(frames_of(first) == frame_list{pattern(1000, 1), pattern(60, 2)});
    CHECK(f.from("vm").frames.ranges().front().begin >= first.ranges().back().end);
  }

  TEST_CASE("a datagram longer than max_frame is counted, and its neighbours pass") {
    fixture f;
    const auto vm = f.client("vm");
    send(vm, pattern(60, 1));
    send(vm, pattern(1519, 2));
    send(vm, pattern(60, 3));
    f.receive();
    CHECK(f.from("vm").skipped.oversize == 1);
    CHECK(f.from("vm").skipped.bytes > max_frame_for_mtu(1500));
    CHECK(frames_of(f.from("vm").frames) == frame_list{pattern(60, 1), pattern(60, 3)});
  }

  TEST_CASE("runts of 1 to 13 bytes are counted") {
    fixture f;
    const auto vm = f.client("vm");
    for (const std::size_t size : {1, 4, 13})
      send(vm, pattern(size));
    f.receive();
    CHECK(f.from("vm").skipped.runts == 3);
    CHECK(f.from("vm").frames.empty());
    CHECK_FALSE(f.from("vm").hello);
  }

  TEST_CASE("VFKT introduces a peer and is no frame") {
    fixture f;
    const auto vm = f.client("vm");
    send_text(vm, "VFKT");
    f.receive();
    CHECK(f.from("vm").hello);
    CHECK(f.from("vm").frames.empty());
    CHECK(f.from("vm").skipped.runts == 0);
    send_text(vm, "VFKTx");
    f.receive();
    CHECK_FALSE(f.from("vm").hello);
    CHECK(f.from("vm").skipped.runts == 1);
  }

  TEST_CASE("empty datagrams are ignored and counted") {
    fixture f;
    const auto vm = f.client("vm");
    send(vm, {});
    send(vm, pattern(60));
    f.receive();
    CHECK(f.batch.empty == 1);
    CHECK(f.from("vm").frames.frames() == 1);
  }

  TEST_CASE("a sender without a name cannot be answered") {
    fixture f;
    const owned_fd nameless = open_unix_socket(SOCK_DGRAM, blocking::no);
    const auto server = unix_address::from_path(f.folder / "s").value();
    const bytes frame = pattern(60);
    REQUIRE(::sendto(nameless.get(), frame.data(), 60, 0, server.data(), server.length()) == 60);
    REQUIRE(::sendto(nameless.get(), "VFKT", 4, 0, server.data(), server.length()) == 4);
    f.receive();
    CHECK(f.batch.no_return_address == 2);
    CHECK(f.batch.arrivals.empty());
  }

  TEST_CASE("a peer with an abstract name is received from and answered") {
    fixture f;
    const owned_fd vm = open_unix_socket(SOCK_DGRAM, blocking::no);
    sockaddr_un automatic{};
    automatic.sun_family = AF_UNIX; // Linux chooses an abstract name (unix(7), "autobind")
    REQUIRE(::bind(vm.get(), reinterpret_cast<sockaddr*>(&automatic), sizeof(sa_family_t)) == 0);
    const auto server = unix_address::from_path(f.folder / "s").value();
    REQUIRE(::connect(vm.get(), server.data(), server.length()) == 0);
    send(vm, pattern(60));
    f.receive();
    REQUIRE(f.batch.arrivals.size() == 1);
    const unix_address peer = f.batch.arrivals[0].from;
    CHECK(peer.abstract());
    bytes answer = wire(pattern(80));
    const iovec range{answer.data(), answer.size()};
    CHECK(f.socket->claim()->send(&peer, {&range, 1}).bytes == 84);
    CHECK(receive_all(vm) == answer);
    CHECK_FALSE(datagram_socket::is_dead(peer));
  }

  TEST_CASE("a slab without room for a largest frame is full, and a new one goes on") {
    fixture f;
    const auto vm = f.client("vm");
    send(vm, pattern(60));
    f.used = static_cast<std::uint32_t>(slab::capacity) - 1518 - 3;
    CHECK(f.receive() == status::full);
    f.used = static_cast<std::uint32_t>(slab::capacity) - 1518 - 4;
    CHECK(f.receive() == status::more);
    CHECK(f.from("vm").frames.frames() == 1);
  }

  TEST_CASE("the largest jumbo frame fits") {
    const auto limit = static_cast<std::uint32_t>(max_frame_for_mtu(65520));
    fixture f{limit};
    const auto vm = f.client("vm");
    send(vm, pattern(limit));
    f.receive();
    CHECK(frames_of(f.from("vm").frames) == frame_list{pattern(limit)});
  }

  TEST_CASE("a frame that fits no datagram is refused, its neighbours are sent "
            "(firecracker#3905)") {
    fixture f;
    const auto vm = f.met_client("vm");
    const int small = 4608;
    REQUIRE(::setsockopt(f.endpoint->fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
    bytes data = wire(pattern(60, 1));
    append_wire(data, pattern(20000, 2));
    append_wire(data, pattern(60, 3));
    const auto sent = send_wire(f, "vm", data);
    CHECK(sent.status == io_status::ok);
    CHECK(sent.refused == frame_tally{1, 20000});
    CHECK(sent.bytes == data.size());
    bytes expected = wire(pattern(60, 1));
    append_wire(expected, pattern(60, 3));
    CHECK(receive_all(vm) == expected);
  }

  TEST_CASE("a full peer takes whole frames only, and goes on later without loss") {
    fixture f;
    const auto vm = f.met_client("vm");
    bytes data;
    for (unsigned i = 0; i < 3000; ++i)
      append_wire(data, pattern(60 + i % 50, i));
    bytes got;
    std::size_t sent = 0;
    int blocked = 0;
    const auto peer = unix_address::from_path(f.folder / "vm").value();
    while (sent < data.size()) {
      // Two ranges, to cross from one to the other.
      const std::size_t middle = sent + prefix_size + read_prefix(data.data() + sent);
      const iovec ranges[] = {{data.data() + sent, middle - sent},
                              {data.data() + middle, data.size() - middle}};
      const auto result = f.endpoint->send(&peer, ranges);
      sent += result.bytes;
      if (result.status == io_status::ok)
        break;
      REQUIRE(result.status == io_status::would_block);
      ++blocked;
      const bytes part = receive_all(vm);
      REQUIRE_FALSE(part.empty());
      append(got, part);
    }
    append(got, receive_all(vm));
    CHECK(blocked > 0);
    CHECK(sent == data.size());
    CHECK(got == data);
  }
} // TEST_SUITE
