#include "transport/datagram_link.hpp"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/transport/wire.hpp"
#include "transport/connect.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

struct server {
  server()
      : socket{
            datagram_socket::create(
                listening_socket::open({.type = listen_type::dgram, .path = folder / "s"}).value(),
                1518)
                .value()} {}
  owned_fd client(const std::string& name) {
    return connect_datagram(folder / "s", folder / name).value();
  }
  // The link to a client, which introduces itself first.
  std::unique_ptr<datagram_link> meet(const owned_fd& client, const std::string& name) {
    REQUIRE(::send(client.get(), "VFKT", 4, 0) == 4);
    std::uint32_t used = 0;
    datagram_batch batch;
    REQUIRE(socket->receive(pool->acquire(), used, batch).status ==
            datagram_socket::receive_status::more);
    REQUIRE(batch.arrivals.size() == 1);
    REQUIRE(to_string(batch.arrivals[0].from) == folder / name);
    return std::make_unique<datagram_link>(
        socket, datagram_target::find(batch.arrivals[0].from, batch.arrivals[0].sender).value());
  }
  bool wait_for_retry(int milliseconds = 5000) {
    pollfd waiting{socket->retry_fd(), POLLIN, 0};
    return ::poll(&waiting, 1, milliseconds) == 1;
  }
  temporary_folder folder;
  std::shared_ptr<slab_pool> pool = pool_of(1);
  std::shared_ptr<datagram_socket> socket;
};

bytes numbered_frames(unsigned count) {
  bytes data;
  for (unsigned i = 0; i < count; ++i)
    append_wire(data, pattern(60 + i % 40, i));
  return data;
}

io_result write_to(vmswitch::link& to, std::span<std::byte> data) {
  const iovec range{data.data(), data.size()};
  return to.write({&range, 1});
}

// Writes until the peer takes no more; returns the bytes accepted.
std::size_t fill(vmswitch::link& to, bytes& data) {
  std::size_t sent = 0;
  for (;;) {
    const auto result = write_to(to, std::span{data}.subspan(sent));
    if (result.status == io_status::would_block)
      return sent;
    REQUIRE(result.status == io_status::ok);
    sent += result.bytes;
    REQUIRE(sent < data.size());
  }
}

bytes receive_one(const owned_fd& client, int flags) {
  bytes space(2000);
  const ssize_t got = ::recv(client.get(), space.data(), space.size(), flags);
  space.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return space;
}

} // namespace

TEST_SUITE("datagram_link") {

  TEST_CASE("it has a name and nothing to read") {
    server s;
    const auto vm = s.client("vm");
    const auto link = s.meet(vm, "vm");
    CHECK_FALSE(link->receives());
    CHECK(link->peer() == s.folder / "vm");
    bytes space(2000);
    CHECK(link->read(space).status == io_status::would_block);
  }

  TEST_CASE("a full peer is a short write, then would_block, and a retry is told") {
    server s;
    const auto vm = s.client("vm");
    const auto link = s.meet(vm, "vm");
    int writable = 0;
    link->on_ready([&](readiness what) { writable += what.writable; });
    CHECK(writable == 1); // at once
    bytes data = numbered_frames(5000);
    const auto first = write_to(*link, data);
    CHECK(first.status == io_status::ok);
    CHECK(first.bytes > 0);
    CHECK(first.bytes < data.size());
    CHECK(s.socket->retry().waiting() == 1);
    CHECK(write_to(*link, std::span{data}.subspan(first.bytes)).status == io_status::would_block);
    REQUIRE(s.wait_for_retry());
    s.socket->on_retry();
    CHECK(writable == 2);
    CHECK(s.socket->retry().waiting() == 0); // nobody waits until it writes again
    const bytes next = wire(receive_one(vm, MSG_DONTWAIT));
    CHECK(std::equal(next.begin(), next.end(), data.begin()));
    CHECK(write_to(*link, std::span{data}.subspan(first.bytes)).bytes > 0);
  }

  TEST_CASE("retries become rarer while the peer remains full, up to a limit") {
    server s;
    const auto vm = s.client("vm");
    const auto link = s.meet(vm, "vm");
    bytes data = numbered_frames(5000);
    std::size_t sent = fill(*link, data);
    std::chrono::nanoseconds last{};
    for (int i = 0; i < 8; ++i) {
      const auto before = retry_timer::clock::now();
      REQUIRE(write_to(*link, std::span{data}.subspan(sent)).status == io_status::would_block);
      REQUIRE(s.wait_for_retry());
      last = retry_timer::clock::now() - before;
      s.socket->on_retry();
    }
    CHECK(last >= datagram_link::last_retry);
  }

  TEST_CASE("a write that succeeds ends the waiting") {
    server s;
    const auto vm = s.client("vm");
    const auto link = s.meet(vm, "vm");
    bytes data = numbered_frames(5000);
    const std::size_t sent = fill(*link, data);
    while (!receive_one(vm, MSG_DONTWAIT).empty())
      ;
    bytes one = wire(pattern(60));
    CHECK(write_to(*link, one).bytes == one.size());
    CHECK(s.socket->retry().waiting() == 0);
    CHECK(sent > 0);
  }

  TEST_CASE("a destroyed link is not told") {
    server s;
    const auto vm = s.client("vm");
    auto link = s.meet(vm, "vm");
    int told = 0;
    link->on_ready([&](readiness) { ++told; });
    bytes data = numbered_frames(5000);
    fill(*link, data);
    link.reset();
    CHECK(s.socket->retry().waiting() == 0);
    s.socket->on_retry();
    CHECK(told == 1); // when on_ready was given
  }

  TEST_CASE("a peer that has gone closes its link only, also when frames were taken before") {
    server s;
    auto gone = s.client("gone");
    const auto here = s.client("here");
    const auto gone_link = s.meet(gone, "gone");
    const auto here_link = s.meet(here, "here");
    bytes data = wire(pattern(60));
    CHECK(write_to(*gone_link, data).bytes == data.size());
    gone.reset();
    CHECK(write_to(*gone_link, data).status == io_status::closed);
    CHECK(write_to(*here_link, data).bytes == data.size());
  }

  TEST_CASE("links on several threads deliver all frames in order while another thread retries") {
    server s;
    constexpr unsigned count = 4000;
    std::vector<std::thread> threads;
    std::atomic<unsigned> received = 0;
    for (const char* name : {"a", "b"}) {
      auto client = std::make_shared<owned_fd>(s.client(name));
      auto link = std::shared_ptr{s.meet(*client, name)};
      threads.emplace_back([client, &received] {
        for (unsigned i = 0; i < count; ++i)
          received += receive_one(*client, 0) == pattern(60 + i % 40, i);
      });
      threads.emplace_back([link = std::move(link)] {
        std::atomic<unsigned> writable = 0;
        link->on_ready([&](readiness) {
          ++writable;
          writable.notify_one();
        });
        bytes data = numbered_frames(count);
        for (std::size_t sent = 0; sent < data.size();) {
          const unsigned seen = writable;
          const auto result = write_to(*link, std::span{data}.subspan(sent));
          sent += result.bytes;
          if (result.status == io_status::would_block)
            writable.wait(seen);
        }
      });
    }
    std::atomic<bool> done = false;
    std::thread owner{[&] {
      const slab_ref memory = s.pool->acquire();
      datagram_batch batch;
      while (!done) {
        std::uint32_t used = 0;
        s.socket->receive(memory, used, batch); // meanwhile the links leave
        if (s.wait_for_retry(1))
          s.socket->on_retry();
      }
    }};
    for (std::thread& thread : threads)
      thread.join();
    done = true;
    owner.join();
    CHECK(received == 2 * count);
  }

} // TEST_SUITE
