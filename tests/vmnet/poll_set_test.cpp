#include <array>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vmnet/poll_set.hpp"
#include "vmnet/user_sockets.hpp"

using namespace vmswitch;
using std::chrono::steady_clock;

namespace {

struct socket_pair {
  owned_fd one, other;
  socket_pair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    one.reset(ends[0]);
    other.reset(ends[1]);
  }
  void write_to_one() { REQUIRE(::write(other.get(), "x", 1) == 1); }
};

struct poll_fixture {
  poll_set polls = poll_set::open().value();
  std::array<poll_set::ready, 8> ready;

  bool is_ready(int patience = 0) const {
    pollfd watched{polls.fd(), POLLIN, 0};
    return ::poll(&watched, 1, patience) == 1;
  }
};

constexpr auto readable = poll_set::readable;
constexpr auto writable = poll_set::writable;
using kind = user_sockets::socket_kind;

} // namespace

TEST_SUITE("poll set") {
  TEST_CASE_FIXTURE(poll_fixture, "what is watched is collected again until it is dealt with") {
    socket_pair pair;
    REQUIRE(polls.change(pair.one.get(), 0, readable));
    CHECK(!is_ready());
    pair.write_to_one();
    for (int i = 0; i < 2; ++i) {
      CHECK(is_ready());
      REQUIRE(polls.collect(ready).count == 1);
      CHECK(ready[0].fd == pair.one.get());
      CHECK(ready[0].events == readable);
    }
    REQUIRE(polls.change(pair.one.get(), readable, 0));
    CHECK(!is_ready());
    CHECK(polls.collect(ready).count == 0);
  }

  TEST_CASE_FIXTURE(poll_fixture, "a change of interest takes effect on what is ready already") {
    socket_pair pair;
    pair.write_to_one();
    REQUIRE(polls.change(pair.one.get(), 0, writable));
    REQUIRE(polls.collect(ready).count == 1);
    CHECK(ready[0].events == writable);
    REQUIRE(polls.change(pair.one.get(), writable, readable | writable));
    REQUIRE(polls.collect(ready).count == 1);
    CHECK(ready[0].events == (readable | writable));
  }

  TEST_CASE_FIXTURE(poll_fixture, "a hang-up is collected without being asked for") {
    socket_pair pair;
    REQUIRE(polls.change(pair.one.get(), 0, readable));
    pair.other.reset();
    REQUIRE(polls.collect(ready).count == 1);
    CHECK((ready[0].events & poll_set::hangup) != 0);
  }

  TEST_CASE_FIXTURE(poll_fixture,
                    "no more is collected than there is space for; the rest follows") {
    std::array<socket_pair, 3> pairs;
    for (auto& pair : pairs) {
      pair.write_to_one();
      REQUIRE(polls.change(pair.one.get(), 0, readable));
    }
    const auto first = polls.collect(std::span{ready}.first(2));
    CHECK(first.count == 2);
    CHECK(is_ready());
  }

  TEST_CASE_FIXTURE(poll_fixture, "the timer fires once, at once if its time has passed") {
    polls.wake_at(steady_clock::now() + std::chrono::hours{1});
    CHECK(!is_ready());
    polls.wake_at(steady_clock::time_point{});
    CHECK(is_ready(5000));
    CHECK(polls.collect(ready).timer);
    CHECK(!is_ready());
    CHECK(!polls.collect(ready).timer);
  }

  TEST_CASE_FIXTURE(poll_fixture, "what the system refuses is reported") {
    CHECK(!polls.change(1'000'000, 0, readable));
  }
}

TEST_SUITE("user sockets") {
  TEST_CASE_FIXTURE(poll_fixture, "only what is on the last list is watched") {
    user_sockets sockets{polls};
    std::array<socket_pair, 2> pairs;
    for (auto& pair : pairs) {
      pair.write_to_one();
      sockets.opened(pair.one.get());
    }
    const auto list = [&](std::initializer_list<int> wanted) {
      sockets.begin();
      for (const int which : wanted)
        sockets.add(pairs[static_cast<std::size_t>(which)].one.get(), readable);
      sockets.commit();
      return polls.collect(ready).count;
    };
    CHECK(list({0, 1}) == 2);
    CHECK(list({1}) == 1);
    CHECK(ready[0].fd == pairs[1].one.get());
    CHECK(list({}) == 0);
    CHECK(list({1, 0}) == 2);
  }

  TEST_CASE_FIXTURE(poll_fixture, "a descriptor that is closed and opened anew is watched again") {
    user_sockets sockets{polls};
    const auto list = [&](int fd) {
      sockets.begin();
      sockets.add(fd, readable);
      sockets.commit();
    };
    socket_pair old;
    const int number = old.one.get();
    sockets.opened(number);
    list(number);
    sockets.closed(number);
    old.one.reset();
    socket_pair next;
    REQUIRE(next.one.get() == number); // the lowest that is free
    sockets.opened(number);
    list(number);
    next.write_to_one();
    CHECK(polls.collect(ready).count == 1);
  }

  TEST_CASE_FIXTURE(poll_fixture, "readiness is told by position, for one round") {
    user_sockets sockets{polls};
    std::array<socket_pair, 2> pairs;
    sockets.begin();
    for (auto& pair : pairs) {
      sockets.opened(pair.one.get());
      sockets.add(pair.one.get(), readable);
    }
    sockets.commit();
    pairs[1].write_to_one();
    const auto got = polls.collect(ready);
    sockets.set_ready({ready.data(), got.count});
    CHECK(sockets.ready_at(0) == 0);
    CHECK(sockets.ready_at(1) == readable);
    CHECK(sockets.ready_at(2) == 0);
    sockets.clear_ready();
    CHECK(sockets.ready_at(1) == 0);
  }

  TEST_CASE_FIXTURE(poll_fixture, "an error on a socket whose buffer is full comes as writable") {
    user_sockets sockets{polls};
    socket_pair pair;
    const int fd = pair.one.get();
    sockets.opened(fd);
    const auto told = [&](unsigned wanted) {
      sockets.begin();
      sockets.add(fd, wanted);
      sockets.commit();
      const poll_set::ready event{fd, poll_set::error | poll_set::hangup};
      sockets.set_ready({&event, 1});
      return sockets.ready_at(0);
    };
    CHECK(told(writable) == (poll_set::error | poll_set::hangup)); // still connecting
    CHECK(told(readable) == (poll_set::error | poll_set::hangup));
    CHECK(told(writable) == writable);
  }

  TEST_CASE_FIXTURE(poll_fixture, "open sockets are counted by kind and owner, and known by flow") {
    user_sockets sockets{polls};
    socket_pair pair;
    sockets.expect(kind::udp, 42, 7);
    sockets.opened(pair.one.get());
    sockets.expect(kind::tcp, 0, user_sockets::from_forwards);
    sockets.opened(pair.other.get());
    sockets.opened(-1);
    CHECK(sockets.open(kind::udp) == 1);
    CHECK(sockets.open(kind::tcp) == 1);
    CHECK(sockets.open_of(7, kind::udp) == 1);
    CHECK(sockets.open_of(7, kind::tcp) == 0);
    CHECK(sockets.open_of(user_sockets::from_forwards, kind::tcp) == 1);
    CHECK(sockets.knows_flow(42));
    CHECK(!sockets.knows_flow(0));
    sockets.closed(pair.one.get());
    sockets.closed(pair.one.get());
    CHECK(sockets.open(kind::udp) == 0);
    CHECK(sockets.open_of(7, kind::udp) == 0);
    CHECK(!sockets.knows_flow(42));
  }
}
