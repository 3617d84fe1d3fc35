#include "vmnet/dns/dns_queue.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {
constexpr auto one = mac_address::from_integer(1), other = mac_address::from_integer(2),
               third = mac_address::from_integer(3);
}

TEST_SUITE("DNS queue") {
  TEST_CASE("VMs take turns, and each has its own order") {
    dns_queue queue;
    for (std::uint32_t i = 0; i < 3; ++i)
      CHECK(queue.add(one, i));
    CHECK(queue.add(other, 10));
    CHECK(queue.add(third, 20));
    std::vector<std::uint32_t> order;
    while (const auto next = queue.next())
      order.push_back(*next);
    CHECK(order == std::vector<std::uint32_t>{0, 10, 20, 1, 2});
  }

  TEST_CASE("one VM has half of what may be under way, and another one goes on beside it") {
    dns_queue queue;
    for (std::uint32_t i = 0; i < 1000; ++i)
      CHECK(queue.add(one, i));
    std::size_t active = 0;
    while (queue.next())
      ++active;
    CHECK(active == dns_queue::most_active_of_one);
    CHECK(queue.add(other, 5000));
    CHECK(queue.next() == 5000U);
    CHECK_FALSE(queue.next());
    queue.finished(one);
    CHECK(queue.next() == 64U);
    CHECK_FALSE(queue.next());
  }

  TEST_CASE("the number of those under way and of those that wait is limited") {
    dns_queue queue;
    for (std::uint32_t i = 0; i < dns_queue::most_waiting_of_one; ++i)
      CHECK(queue.add(one, i));
    CHECK_FALSE(queue.add(one, 9999));
    std::uint32_t added = dns_queue::most_waiting_of_one;
    for (std::uint64_t client = 10; queue.waiting() < dns_queue::most_waiting; ++client)
      for (int i = 0; i < 1000 && queue.waiting() < dns_queue::most_waiting; ++i)
        CHECK(queue.add(mac_address::from_integer(client), added++));
    CHECK_FALSE(queue.add(other, 9999));
    while (queue.next())
      ;
    CHECK(queue.active() == dns_queue::most_active);
  }
}
