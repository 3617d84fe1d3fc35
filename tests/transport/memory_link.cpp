#include "transport/memory_link.hpp"

#include <cerrno>

#include <doctest/doctest.h>

#include "tests/transport/wire.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// A pair whose notifications are counted.
struct fixture {
  fixture() {
    link->on_ready([this](readiness what) {
      readable += what.readable;
      writable += what.writable;
      hangup += what.hangup;
    });
    readable = writable = hangup = 0;
  }
  io_result write(bytes data) {
    const iovec range{data.data(), data.size()};
    return link->write({&range, 1});
  }
  io_result read(std::size_t most = 70000) {
    got.resize(most);
    const auto result = link->read(got);
    got.resize(result.bytes);
    return result;
  }
  int readable = 0, writable = 0, hangup = 0;
  std::pair<std::unique_ptr<memory_link>, memory_peer> both = make_memory_link("vm1");
  std::unique_ptr<memory_link>& link = both.first;
  memory_peer& peer = both.second;
  bytes got;
};

} // namespace

TEST_SUITE("memory_link") {

  TEST_CASE("bytes pass in both directions, and readiness is told") {
    fixture f;
    CHECK(f.link->fd() == -1);
    CHECK(f.link->peer() == "vm1");
    CHECK(f.read().status == io_status::would_block);
    REQUIRE(f.peer.send(pattern(100)));
    CHECK(f.readable == 1);
    CHECK(f.read().bytes == 100);
    CHECK(f.got == pattern(100));
    CHECK(f.write(pattern(50)).bytes == 50);
    CHECK(f.peer.unread() == 50);
    CHECK(f.peer.receive() == pattern(50));
    CHECK(f.peer.receive().empty());
  }

  TEST_CASE("readiness at the time of on_ready is told at once") {
    readiness told;
    auto [link, peer] = make_memory_link();
    peer.send(pattern(1));
    link->on_ready([&](readiness what) { told = what; });
    CHECK(told.readable);
    CHECK(told.writable);
    CHECK_FALSE(told.hangup);
  }

  TEST_CASE("a short read leaves the rest, and tells of it") {
    fixture f;
    f.peer.script_reads({3, 1});
    f.peer.send(pattern(10));
    CHECK(f.read().bytes == 3);
    CHECK(f.readable == 2);
    CHECK(f.read().bytes == 1);
    CHECK(f.read().bytes == 6);
    CHECK(f.readable == 3);
  }

  TEST_CASE("a peer may trickle one byte at a time") {
    fixture f;
    f.peer.limit_reads(1);
    f.peer.send(pattern(5));
    bytes all;
    while (f.read().status == io_status::ok) {
      CHECK(f.got.size() == 1);
      append(all, f.got);
    }
    CHECK(all == pattern(5));
  }

  TEST_CASE("a short write accepts a part, and tells that it may go on") {
    fixture f;
    f.peer.script_writes({7, 0});
    CHECK(f.write(pattern(10)).bytes == 7);
    CHECK(f.writable == 1);
    CHECK(f.write(pattern(10)).status == io_status::would_block);
    CHECK(f.writable == 2);
    CHECK(f.write(pattern(10)).bytes == 10);
    CHECK(f.peer.unread() == 17);
  }

  TEST_CASE("a short write across ranges takes them in order") {
    fixture f;
    f.peer.limit_writes(5);
    bytes first = pattern(3, 1);
    bytes second = pattern(4, 2);
    const iovec ranges[] = {{first.data(), 3}, {second.data(), 4}};
    CHECK(f.link->write(ranges).bytes == 5);
    bytes expected = first;
    append(expected, {second.begin(), second.begin() + 2});
    CHECK(f.peer.receive() == expected);
  }

  TEST_CASE("a peer that stops reading blocks the link until it reads again") {
    fixture f;
    f.peer.set_capacity(100);
    CHECK(f.write(pattern(80)).bytes == 80);
    CHECK(f.write(pattern(80)).bytes == 20);
    CHECK(f.write(pattern(80)).status == io_status::would_block);
    CHECK(f.writable == 0);
    CHECK(f.peer.receive().size() == 100);
    CHECK(f.writable == 1);
    CHECK(f.write(pattern(80)).bytes == 80);
  }

  TEST_CASE("a link that never was full is not told that it is writable") {
    fixture f;
    f.peer.set_capacity(100);
    f.write(pattern(80));
    f.peer.receive();
    CHECK(f.writable == 0);
  }

  TEST_CASE("a peer that does not read at all takes nothing until it has room") {
    fixture f;
    f.peer.set_capacity(0);
    CHECK(f.write(pattern(80)).status == io_status::would_block);
    f.peer.receive();
    CHECK(f.writable == 0);
    f.peer.set_capacity(10);
    CHECK(f.writable == 1);
    CHECK(f.write(pattern(80)).bytes == 10);
  }

  TEST_CASE("an error is reported once, with its number") {
    fixture f;
    f.peer.fail_next_read(EIO);
    f.peer.fail_next_write(ENETDOWN);
    CHECK(f.read().error == EIO);
    const auto sent = f.write(pattern(5));
    CHECK(sent.status == io_status::failed);
    CHECK(sent.error == ENETDOWN);
    CHECK(f.read().status == io_status::would_block);
    CHECK(f.write(pattern(5)).bytes == 5);
  }

  TEST_CASE("after a hang-up the link reads what was sent, then closed") {
    fixture f;
    f.peer.send(pattern(10));
    f.peer.hang_up();
    CHECK(f.hangup == 1);
    CHECK(f.read().bytes == 10);
    CHECK(f.read().status == io_status::closed);
    CHECK(f.write(pattern(5)).status == io_status::closed);
    CHECK(f.peer.unread() == 0);
  }

  TEST_CASE("destroying the peer hangs up, destroying the link is seen by the peer") {
    fixture f;
    {
      const memory_peer gone{std::move(f.peer)};
      CHECK(f.hangup == 0);
    }
    CHECK(f.hangup == 1);

    int told = 0;
    auto [link, peer] = make_memory_link();
    peer.on_output([&] { ++told; });
    CHECK_FALSE(peer.closed());
    link.reset();
    CHECK(peer.closed());
    CHECK(told == 1);
    CHECK_FALSE(peer.send(pattern(1)));
  }

  TEST_CASE("the peer is told of each write") {
    int told = 0;
    fixture f;
    f.peer.on_output([&] { ++told; });
    f.write(pattern(5));
    f.write(pattern(5));
    CHECK(told == 2);
  }

} // TEST_SUITE
