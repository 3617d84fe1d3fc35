#include "transport/stream_link.hpp"

#include <array>

#include <cerrno>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/transport/wire.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

struct connected {
  connected() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    peer.reset(ends[1]);
    link = std::make_unique<stream_link>(owned_fd{ends[0]});
  }
  bytes receive(std::size_t most) {
    bytes got(most);
    const ssize_t count = ::recv(peer.get(), got.data(), got.size(), MSG_DONTWAIT);
    got.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return got;
  }
  std::unique_ptr<stream_link> link;
  owned_fd peer;
};

io_result write_all(vmswitch::link& to, bytes& data) {
  const iovec range{data.data(), data.size()};
  return to.write({&range, 1});
}

} // namespace

TEST_SUITE("stream_link") {

  TEST_CASE("an adopted socket is non-blocking and closed on exec") {
    connected pair;
    CHECK((::fcntl(pair.link->fd(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(pair.link->fd(), F_GETFD) & FD_CLOEXEC) != 0);
  }

  TEST_CASE("the peer is named by its process and user") {
    connected pair;
    CHECK(pair.link->peer() ==
          "pid " + std::to_string(::getpid()) + ", uid " + std::to_string(::getuid()));
    CHECK(pair.link->identity().pid == ::getpid());
    CHECK(pair.link->identity().uid == ::getuid());
  }

  TEST_CASE("what the peer sends is read, then the link would block") {
    connected pair;
    const bytes sent = pattern(3000);
    REQUIRE(::send(pair.peer.get(), sent.data(), sent.size(), 0) == 3000);
    bytes space(70000);
    const auto got = pair.link->read(space);
    CHECK(got.status == io_status::ok);
    CHECK(got.bytes == 3000);
    space.resize(3000);
    CHECK(space == sent);
    CHECK(pair.link->read(space).status == io_status::would_block);
  }

  TEST_CASE("a list of ranges arrives in order") {
    connected pair;
    std::array<bytes, 3> parts{pattern(100, 1), pattern(1, 2), pattern(50, 3)};
    std::array<iovec, 3> ranges;
    bytes expected;
    for (std::size_t i = 0; i < 3; ++i) {
      ranges[i] = {parts[i].data(), parts[i].size()};
      append(expected, parts[i]);
    }
    CHECK(pair.link->write(ranges).bytes == 151);
    CHECK(pair.receive(1000) == expected);
  }

  TEST_CASE("more ranges than the system takes at once are accepted in part") {
    connected pair;
    bytes data = pattern(1);
    const std::vector<iovec> ranges(link::max_iovecs + 500, iovec{data.data(), 1});
    const auto sent = pair.link->write(ranges);
    CHECK(sent.status == io_status::ok);
    CHECK(sent.bytes == link::max_iovecs);
  }

  TEST_CASE("after a short write the rest continues at the very next byte (lima#2680)") {
    connected pair;
    const int small = 4096;
    REQUIRE(::setsockopt(pair.link->fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
    bytes data = pattern(200'000);
    bytes got;
    std::size_t sent = 0;
    bool short_once = false;
    bool blocked_once = false;
    while (sent < data.size()) {
      const iovec rest{data.data() + sent, data.size() - sent};
      const auto result = pair.link->write({&rest, 1});
      if (result.status == io_status::would_block) {
        blocked_once = true;
        const bytes part = pair.receive(5000);
        REQUIRE_FALSE(part.empty());
        append(got, part);
        continue;
      }
      REQUIRE(result.status == io_status::ok);
      REQUIRE(result.bytes > 0);
      short_once |= result.bytes < rest.iov_len;
      sent += result.bytes;
    }
    for (bytes part = pair.receive(5000); !part.empty(); part = pair.receive(5000))
      append(got, part);
    CHECK(got == data);
    CHECK(short_once);
    CHECK(blocked_once);
  }

  TEST_CASE("the end of the stream at a header, or within one, closes in good order "
            "(socket_vmnet#53)") {
    for (const std::size_t header_bytes : {0, 1, 3}) {
      CAPTURE(header_bytes);
      connected pair;
      const bytes sent = pattern(header_bytes);
      REQUIRE(::send(pair.peer.get(), sent.data(), sent.size(), 0) >= 0);
      pair.peer.reset();
      bytes space(70000);
      if (header_bytes > 0)
        CHECK(pair.link->read(space).bytes == header_bytes);
      CHECK(pair.link->read(space).status == io_status::closed);
      CHECK(pair.link->read(space).status == io_status::closed);
    }
  }

  TEST_CASE("writing to a peer that has gone is closed, and raises no signal") {
    connected pair;
    pair.peer.reset();
    bytes data = pattern(64);
    CHECK(write_all(*pair.link, data).status == io_status::closed);
  }

  TEST_CASE("a peer that goes with our bytes unread is closed, not failed") {
    connected pair;
    bytes data = pattern(64);
    REQUIRE(write_all(*pair.link, data).bytes == 64);
    pair.peer.reset(); // the kernel reports ECONNRESET
    bytes space(70000);
    CHECK(pair.link->read(space).status == io_status::closed);
  }

  TEST_CASE("a socket that is none fails with its error") {
    stream_link broken{owned_fd{::open("/dev/null", O_RDWR)}};
    bytes data = pattern(64);
    const auto sent = write_all(broken, data);
    CHECK(sent.status == io_status::failed);
    CHECK(sent.error == ENOTSOCK);
    CHECK(broken.peer() == "unknown");
  }

} // TEST_SUITE
