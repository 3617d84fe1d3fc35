#include "transport/connect.hpp"

#include <filesystem>

#include <cerrno>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"
#include "transport/listening_socket.hpp"
#include "transport/unix_socket.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

std::string error_of(const result<owned_fd>& connected) {
  REQUIRE_FALSE(connected.has_value());
  return connected.error().text;
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct working_directory {
  explicit working_directory(const std::string& path) : before{std::filesystem::current_path()} {
    std::filesystem::current_path(path);
  }
  ~working_directory() { std::filesystem::current_path(before); }
  std::filesystem::path before;
};

} // namespace

TEST_SUITE("connect") {

  TEST_CASE("a connected stream is blocking and closed on exec") {
    const temporary_folder folder;
    const auto listening = listening_socket::open({.path = folder / "s"});
    const auto connected = connect_stream(folder / "s");
    REQUIRE(connected.has_value());
    CHECK((::fcntl(connected->get(), F_GETFL) & O_NONBLOCK) == 0);
    CHECK((::fcntl(connected->get(), F_GETFD) & FD_CLOEXEC) != 0);
  }

  TEST_CASE("each reason why nobody answers says what to do") {
    const temporary_folder folder;
    CHECK(mentions(error_of(connect_stream(folder / "s")), "start the switch first"));
    {
      const owned_fd dead = open_unix_socket(SOCK_STREAM, blocking::no);
      REQUIRE(bind_unix_socket(dead.get(), unix_address::from_path(folder / "s").value()) == 0);
    }
    CHECK(mentions(error_of(connect_stream(folder / "s")), "nobody listens"));
    CHECK(mentions(error_of(connect_stream(folder / std::string(120, 'x'))), "bytes long"));
    const auto datagrams =
        listening_socket::open({.type = listen_type::dgram, .path = folder / "d"});
    CHECK(mentions(error_of(connect_stream(folder / "d")), "other type"));
  }

  TEST_CASE("a client without permission is told about the group (socket_vmnet#8)") {
    const temporary_folder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
    const auto listening = listening_socket::open({.path = folder / "s", .mode = mode_t{0}});
    REQUIRE(listening.has_value());
    const bool root = ::geteuid() == 0;
    if (root)
      REQUIRE(::seteuid(65534) == 0);
    const auto refused = connect_stream(folder / "s");
    if (root)
      REQUIRE(::seteuid(0) == 0);
    CHECK(mentions(error_of(refused), "join the group"));
  }

  TEST_CASE("a datagram client is known by its absolute path") {
    const temporary_folder folder;
    const auto server = listening_socket::open({.type = listen_type::dgram, .path = folder / "s"});
    REQUIRE(server.has_value());
    const working_directory guard{folder.path()};
    const auto client = connect_datagram("s", "client");
    REQUIRE(client.has_value());
    REQUIRE(::send(client->get(), "x", 1, 0) == 1);
    sockaddr_un from{};
    socklen_t size = sizeof from;
    char byte = 0;
    REQUIRE(::recvfrom(server->fd(), &byte, 1, 0, reinterpret_cast<sockaddr*>(&from), &size) == 1);
    CHECK(to_string(unix_address::from_kernel(from, size)) == folder / "client");
  }

  TEST_CASE("a datagram client that finds no server leaves no file") {
    const temporary_folder folder;
    CHECK(mentions(error_of(connect_datagram(folder / "s", folder / "c")), "start the switch"));
    CHECK(std::filesystem::is_empty(folder.path()));
  }

  TEST_CASE("a datagram client replaces what its predecessor left, not one that lives") {
    const temporary_folder folder;
    const auto server = listening_socket::open({.type = listen_type::dgram, .path = folder / "s"});
    REQUIRE(server.has_value());
    auto first = connect_datagram(folder / "s", folder / "c");
    REQUIRE(first.has_value());
    CHECK(mentions(error_of(connect_datagram(folder / "s", folder / "c")), "another process"));
    first->reset();
    CHECK(connect_datagram(folder / "s", folder / "c").has_value());
  }

} // TEST_SUITE
