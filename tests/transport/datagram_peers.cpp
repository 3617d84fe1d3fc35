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

TEST_SUITE("datagram_socket: its peers") {
  TEST_CASE("a peer that has gone is closed, with or without its file") {
    fixture f;
    bytes data = wire(pattern(60));
    auto vm = f.met_client("vm");
    CHECK_FALSE(datagram_socket::is_dead(unix_address::from_path(f.folder / "vm").value()));
    vm.reset();
    CHECK(send_wire(f, "vm", data).status == io_status::closed);
    CHECK(datagram_socket::is_dead(unix_address::from_path(f.folder / "vm").value()));
    ::unlink((f.folder / "vm").c_str());
    CHECK(send_wire(f, "vm", data).status == io_status::closed);
    CHECK(datagram_socket::is_dead(unix_address::from_path(f.folder / "vm").value()));
  }

  TEST_CASE("a peer that refuses all but its server is alive") {
    fixture f;
    const auto vm = f.client("vm"); // connected: the kernel answers others with EPERM
    CHECK_FALSE(datagram_socket::is_dead(unix_address::from_path(f.folder / "vm").value()));
  }

  TEST_CASE("a peer that stops reading silences nobody else (socket_vmnet#173)") {
    fixture f;
    const auto stuck = f.met_client("stuck");
    const auto stuck_endpoint = f.endpoint;
    const auto healthy = f.met_client("healthy");
    bytes flood;
    for (int i = 0; i < 2000; ++i)
      append_wire(flood, pattern(1514));
    const iovec all{flood.data(), flood.size()};
    const auto stuck_peer = unix_address::from_path(f.folder / "stuck").value();
    REQUIRE(stuck_endpoint->send(&stuck_peer, {&all, 1}).status == io_status::would_block);
    bytes answer = wire(pattern(1514));
    for (int i = 0; i < 100; ++i) {
      REQUIRE(send_wire(f, "healthy", answer).bytes == answer.size());
      REQUIRE(receive_all(healthy) == answer);
    }
  }

  TEST_CASE("the path leads to a socket of the same mode whenever a peer has been met") {
    fixture f;
    std::vector<owned_fd> clients;
    std::vector<std::shared_ptr<datagram_endpoint>> endpoints;
    for (const char* name : {"a", "b", "c"}) {
      clients.push_back(f.met_client(name));
      endpoints.push_back(f.endpoint);
      CHECK(std::filesystem::status(f.folder / "s").permissions() == std::filesystem::perms{0600});
    }
    for (const owned_fd& client : clients) { // all are still heard
      send(client, pattern(60));
      CHECK(f.receive() == status::more);
      CHECK(f.batch.arrivals.size() == 1);
    }
  }

  TEST_CASE("a peer that sends without connecting is heard and answered all the same") {
    fixture f;
    const owned_fd vm = open_unix_socket(SOCK_DGRAM, blocking::no);
    REQUIRE(bind_unix_socket(vm.get(), unix_address::from_path(f.folder / "vm").value()) == 0);
    const auto server = unix_address::from_path(f.folder / "s").value();
    const bytes frame = pattern(60);
    const auto send_frame = [&] {
      return ::sendto(vm.get(), frame.data(), frame.size(), 0, server.data(), server.length());
    };
    REQUIRE(send_frame() == 60);
    f.receive();
    f.endpoint = f.socket->claim();
    const auto other = f.met_client("other");
    REQUIRE(send_frame() == 60);
    f.receive();
    CHECK(frames_of(f.from("vm").frames) == frame_list{frame});
    bytes answer = wire(pattern(80));
    CHECK(send_wire(f, "vm", answer).bytes == 84);
    CHECK(receive_all(vm) == answer);
  }

  TEST_CASE(
      "a client that was started anew is closed on its old endpoint and answered on a new one") {
    fixture f;
    bytes answer = wire(pattern(80));
    auto vm = f.met_client("vm");
    const auto old_endpoint = f.endpoint;
    vm = owned_fd{};
    vm = f.met_client("vm");
    const iovec range{answer.data(), answer.size()};
    const auto peer = unix_address::from_path(f.folder / "vm").value();
    CHECK(old_endpoint->send(&peer, {&range, 1}).status == io_status::closed);
    CHECK(send_wire(f, "vm", answer).bytes == 84);
    CHECK(receive_all(vm) == answer);
  }

  TEST_CASE("peers share a socket when no new one can be made") {
    fixture f;
    for (const char c : std::string{"~0123456789"})
      std::ofstream{f.folder / std::string{c}}; // all names for it are taken
    const auto first = f.met_client("first");
    const auto first_endpoint = f.endpoint;
    const auto second = f.met_client("second");
    CHECK(f.endpoint == first_endpoint);
    bytes answer = wire(pattern(80));
    CHECK(send_wire(f, "first", answer).bytes == 84);
    CHECK(send_wire(f, "second", answer).bytes == 84);
    CHECK(receive_all(first) == answer);
    CHECK(receive_all(second) == answer);
    CHECK(std::filesystem::is_regular_file(f.folder / "~"));
  }

  TEST_CASE("peers that come and go leave no descriptor and no file behind") {
    const auto descriptors = [] {
      return std::distance(std::filesystem::directory_iterator{"/dev/fd"}, {});
    };
    fixture f;
    const auto before = descriptors();
    for (int i = 0; i < 300; ++i) {
      const auto vm = f.met_client("vm");
      f.endpoint.reset();
    }
    f.receive();
    CHECK(descriptors() <= before + 1); // the last one that was heard on
    ::unlink((f.folder / "vm").c_str());
    f.socket->withdraw();
    CHECK(std::filesystem::is_empty(f.folder.path()));
  }

  TEST_CASE("a readable descriptor tells of every peer, and of none when all is read") {
    fixture f;
    const auto readable = [&] {
      pollfd waiting{f.socket->fd(), POLLIN, 0};
      return ::poll(&waiting, 1, 0) == 1;
    };
    const auto first = f.met_client("first");
    const auto first_endpoint = f.endpoint;
    const auto second = f.met_client("second");
    while (f.receive() != status::drained)
      ;
    CHECK_FALSE(readable());
    for (const owned_fd* client : {&first, &second}) {
      send(*client, pattern(60));
      CHECK(readable());
      CHECK(f.receive() == status::more);
      CHECK(f.batch.arrivals.size() == 1);
      CHECK(f.receive() == status::drained);
      CHECK_FALSE(readable());
    }
  }

} // TEST_SUITE
