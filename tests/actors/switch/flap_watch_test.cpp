#include "actors/switch/flap_watch.hpp"

#include <doctest/doctest.h>

#include "tests/support/bursts.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

TEST_SUITE("flap_watch") {

  TEST_CASE("an address flaps when it moves for the fourth time in ten seconds, and is told once") {
    flap_watch watch;
    const flap_watch::clock::time_point begin{1h};
    CHECK_FALSE(watch.moved(vm_mac(1), begin));
    CHECK_FALSE(watch.moved(vm_mac(1), begin + 1s));
    CHECK_FALSE(watch.moved(vm_mac(1), begin + 2s));
    CHECK(watch.moved(vm_mac(1), begin + 3s));
    for (int i = 0; i < 100; ++i)
      CHECK_FALSE(watch.moved(vm_mac(1), begin + 4s));
    for (int i = 0; i < 3; ++i)
      CHECK_FALSE(watch.moved(vm_mac(1), begin + 10s));
    CHECK(watch.moved(vm_mac(1), begin + 10s));
  }

  TEST_CASE("one that moves now and then does not") {
    flap_watch watch;
    for (int i = 0; i < 20; ++i)
      CHECK_FALSE(watch.moved(vm_mac(1), flap_watch::clock::time_point{1h + i * 4s}));
  }

  TEST_CASE("others do not hide it, unless there are very many") {
    flap_watch watch;
    const flap_watch::clock::time_point begin{1h};
    bool told = false;
    for (int i = 0; i < 4; ++i)
      for (std::uint32_t vm = 1; vm <= 15; ++vm)
        told = watch.moved(vm_mac(vm), begin + i * 1s) || told;
    CHECK(told);
  }

} // TEST_SUITE
