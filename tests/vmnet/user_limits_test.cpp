#include "vmnet/user_limits.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;
using socket_kind = user_limits::socket_kind;

namespace {

constexpr std::size_t many = 1'000'000;
const auto vm = mac_address::from_integer(0x5254'0000'0001);

/// How many one may have who finds that many of others.
std::size_t share(const user_limits& limits, socket_kind kind, std::size_t others) {
  std::size_t own = 0;
  while (own < 10'000 && limits.allows(kind, {others + own, own}))
    ++own;
  return own;
}

} // namespace

TEST_SUITE("user limits") {
  TEST_CASE("one VM may have half of all sockets, of each kind") {
    const user_limits limits{many};
    CHECK(share(limits, socket_kind::tcp, 0) == 512);
    CHECK(share(limits, socket_kind::udp, 0) == 512);
    CHECK(share(limits, socket_kind::icmp, 0) == 64);
  }

  TEST_CASE("however many VMs have taken what they may, the next one gets something") {
    const user_limits limits{many};
    std::size_t others = 0;
    for (int i = 0; i < 9; ++i) {
      const auto more = share(limits, socket_kind::tcp, others);
      CHECK(more > 0);
      others += more;
    }
    CHECK(share(limits, socket_kind::tcp, 512) == 256);
    CHECK(share(limits, socket_kind::tcp, 768) == 128);
    CHECK(others <= 1024);
  }

  TEST_CASE("the process keeps half of its descriptors, and VMs a few even of very few") {
    const user_limits limits{100};
    CHECK(share(limits, socket_kind::tcp, 0) + share(limits, socket_kind::udp, 0) +
              share(limits, socket_kind::icmp, 0) <=
          50);
    CHECK(share(user_limits{0}, socket_kind::icmp, 0) == 2);
  }

  TEST_CASE("the warning names the VM and what it has, once in a while for each kind") {
    user_limits limits{many};
    const user_limits::count open{600, 512};
    std::chrono::milliseconds now{1};
    const auto text = limits.refused(socket_kind::udp, vm, open, now);
    REQUIRE(text);
    CHECK(text->starts_with("VM 52:54:00:00:00:01 has 512 of the 600 UDP flows through the NAT"));
    now += user_limits::quiet_time - std::chrono::milliseconds{1};
    CHECK_FALSE(limits.refused(socket_kind::udp, vm, open, now));
    CHECK(limits.refused(socket_kind::tcp, vm, open, now));
    now += std::chrono::milliseconds{1};
    CHECK(limits.refused(socket_kind::udp, vm, open, now));
  }
}
