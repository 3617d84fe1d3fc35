#include "transport/readable_set.hpp"

#include <array>
#include <set>

#include <doctest/doctest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

using namespace vmswitch;

namespace {

struct pair {
  pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    here.reset(ends[0]);
    there.reset(ends[1]);
  }
  void send() const { REQUIRE(::send(there.get(), "x", 1, 0) == 1); }
  void receive() const {
    char byte = 0;
    REQUIRE(::recv(here.get(), &byte, 1, MSG_DONTWAIT) == 1);
  }
  owned_fd here, there;
};

std::set<std::uint64_t> ready(readable_set& set) {
  std::array<std::uint64_t, 8> tags;
  const std::size_t count = set.ready(tags);
  return {tags.begin(), tags.begin() + count};
}

} // namespace

TEST_SUITE("readable_set") {

  TEST_CASE("exactly the readable descriptors are found, as long as they are readable") {
    auto set = readable_set::create().value();
    const pair a, b, c;
    REQUIRE(set.add(a.here.get(), 1));
    REQUIRE(set.add(b.here.get(), 2));
    REQUIRE(set.add(c.here.get(), 3));
    CHECK(ready(set).empty());
    a.send();
    c.send();
    CHECK(ready(set) == std::set<std::uint64_t>{1, 3});
    a.receive();
    CHECK(ready(set) == std::set<std::uint64_t>{3});
    set.remove(c.here.get());
    CHECK(ready(set).empty());
  }

  TEST_CASE("watched edge-triggered, it tells of each descriptor that becomes readable") {
    auto set = readable_set::create().value();
    const pair a, b;
    REQUIRE(set.add(a.here.get(), 1));
    REQUIRE(set.add(b.here.get(), 2));
    const owned_fd watch{::epoll_create1(EPOLL_CLOEXEC)};
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    REQUIRE(::epoll_ctl(watch.get(), EPOLL_CTL_ADD, set.fd(), &wanted) == 0);
    const auto told = [&] {
      epoll_event event{};
      return ::epoll_wait(watch.get(), &event, 1, 0) == 1 && (event.events & EPOLLIN) != 0;
    };
    for (const pair* each : {&a, &b, &a}) {
      each->send();
      CHECK(told());
      CHECK_FALSE(told()); // once
      CHECK(ready(set).size() == 1);
      each->receive();
      CHECK(ready(set).empty());
    }
    a.send();
    CHECK(told());
    b.send(); // while the other is still unread
    CHECK(told());
  }

} // TEST_SUITE
