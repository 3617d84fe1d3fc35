#include "transport/frame/slab.hpp"

#include <atomic>
#include <thread>

#include <cerrno>

#include <doctest/doctest.h>
#include <sys/mman.h>

#include "tests/support/resource_limit.hpp"

using namespace vmswitch;

namespace {

slab_ref acquire_without_memory(slab_pool& pool) {
  const test::resource_limit shortage{RLIMIT_AS, 0};
  return pool.acquire();
}

} // namespace

TEST_SUITE("slab") {

  TEST_CASE("a pool gives out its budget and no more") {
    const auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 2, {});
    slab_ref first = pool->acquire();
    const slab_ref second = pool->acquire();
    REQUIRE(first);
    REQUIRE(second);
    CHECK_FALSE(first == second);
    CHECK_FALSE(pool->acquire());
    CHECK(pool->outstanding() == 2);
    first.reset();
    CHECK(pool->outstanding() == 1);
    CHECK(pool->acquire());
  }

  TEST_CASE("a slab is out as long as any copy of its reference is") {
    const auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 1, {});
    slab_ref first = pool->acquire();
    CHECK(first->unique());
    slab_ref copy = first;
    CHECK_FALSE(first->unique());
    first.reset();
    CHECK(pool->outstanding() == 1);
    CHECK(copy->unique());
    const slab_ref moved = std::move(copy);
    CHECK(pool->outstanding() == 1);
  }

  TEST_CASE("on_return is called once after each failed acquire, and not otherwise") {
    int returned = 0;
    const auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 1, [&] { ++returned; });
    slab_ref memory = pool->acquire();
    memory.reset();
    CHECK(returned == 0);
    for (int round = 1; round <= 2; ++round) {
      memory = pool->acquire();
      CHECK_FALSE(pool->acquire());
      CHECK_FALSE(pool->acquire());
      CHECK(returned == round - 1);
      memory.reset();
      CHECK(returned == round);
    }
    memory = pool->acquire();
    memory.reset();
    CHECK(returned == 2);
  }

  TEST_CASE("a slab outlives its pool's owner") {
    auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 1, {});
    slab_ref memory = pool->acquire();
    pool.reset();
    memory->data()[slab::capacity - 1] = std::byte{1};
    memory.reset();
  }

  TEST_CASE("the stock keeps free blocks up to its limit, the rest goes back to the system") {
    slab_stock stock{2};
    void* const kept[] = {stock.take(), stock.take()};
    void* const surplus = stock.take();
    for (void* block : kept) {
      *static_cast<char*>(block) = 'k'; // memory fresh from the system is zero
      stock.give(block);
    }
    stock.give(surplus);
    unsigned char resident = 0;
    CHECK(::mincore(surplus, 1, &resident) == -1);
    CHECK(errno == ENOMEM); // not mapped
    void* const again[] = {stock.take(), stock.take()};
    CHECK(again[0] != again[1]);
    for (void* block : again)
      CHECK(*static_cast<char*>(block) == 'k');
    for (void* block : again)
      stock.give(block);
  }

  TEST_CASE("a reader that waits for a slab is told of each return from another thread") {
    std::atomic<int> returned = 0;
    const auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 2, [&] {
      ++returned;
      returned.notify_one();
    });
    std::atomic<int> handed = 0;
    std::atomic<int> dropped = 0;
    slab_ref mailbox[2];
    constexpr int rounds = 2000;
    std::thread dropping{[&] {
      for (int i = 0; i < rounds; ++i) {
        while (handed.load() <= i)
          handed.wait(i);
        slab_ref mine = std::move(mailbox[i % 2]);
        dropped = i + 1;
        dropped.notify_one();
        mine.reset();
      }
    }};
    for (int i = 0; i < rounds; ++i) {
      for (int d = dropped; d < i - 1; d = dropped) // the mailbox has two places
        dropped.wait(d);
      int seen = returned;
      slab_ref memory = pool->acquire();
      while (!memory) {
        returned.wait(seen); // for ever, if a return were missed
        seen = returned;
        memory = pool->acquire();
      }
      mailbox[i % 2] = std::move(memory);
      ++handed;
      handed.notify_one();
    }
    dropping.join();
    CHECK(pool->outstanding() == 0);
  }

  TEST_CASE(
      "when the system has no memory a pool is refused, and called when any slab comes back") {
    const auto stock = std::make_shared<slab_stock>(1);
    int told[2] = {};
    const auto one = slab_pool::create(stock, 4, [&] { ++told[0]; });
    const auto other = slab_pool::create(stock, 4, [&] { ++told[1]; });
    auto held = acquire_without_memory(*one); // the block that there always is
    REQUIRE(held);
    for (int i = 0; i < 2; ++i) {
      CHECK_FALSE(acquire_without_memory(*one));
      CHECK_FALSE(acquire_without_memory(*other));
    }
    CHECK(other->outstanding() == 0);
    CHECK(other->call_on_next_return());
    CHECK(told[0] + told[1] == 0);
    held.reset();
    CHECK(told[0] == 1);
    CHECK(told[1] == 1);
    CHECK_FALSE(other->call_on_next_return());

    held = acquire_without_memory(*other);
    CHECK(held);
    CHECK_FALSE(acquire_without_memory(*one));
    held.reset();
    CHECK(told[0] == 2);
    CHECK(told[1] == 1);
  }

  TEST_CASE("a pool that ends while it waits for memory is called all the same, once") {
    const auto stock = std::make_shared<slab_stock>(1);
    int told = 0;
    auto waiting = slab_pool::create(stock, 1, [&] { ++told; });
    const auto other = slab_pool::create(stock, 1, {});
    auto held = acquire_without_memory(*other);
    CHECK_FALSE(acquire_without_memory(*waiting));
    waiting.reset();
    held.reset();
    CHECK(told == 1);
    CHECK(acquire_without_memory(*other));
  }

  TEST_CASE("a budget that is changed holds from the next slab on") {
    const auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 2, {});
    auto a = pool->acquire(), b = pool->acquire();
    CHECK_FALSE(pool->acquire());
    pool->change_budget(3);
    auto c = pool->acquire();
    CHECK(c);
    pool->change_budget(1);
    b.reset();
    c.reset();
    CHECK_FALSE(pool->acquire());
    a.reset();
    CHECK(pool->acquire());
  }

} // TEST_SUITE
