#include <algorithm>
#include <map>
#include <random>

#include "tests/vmnet/dhcp/dhcp_bench.hpp"
#include "vmnet/dhcp/lease_file.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

/// What the VMs of a network believe: who holds which address until when. All of them answer ARP.
struct believers {
  struct holding {
    ipv4_address address;
    lease_table::time_point until;
  };

  explicit believers(const dhcp_config& config) : bench{config} {}

  bool holds(std::uint64_t n) const {
    const auto found = held.find(n);
    return found != held.end() && found->second.until > bench.now;
  }
  std::ptrdiff_t others_with(ipv4_address address, std::uint64_t n) const {
    return std::ranges::count_if(held, [&](const auto& each) {
      return each.first != n && each.second.until > bench.now && each.second.address == address;
    });
  }
  void acknowledged(std::uint64_t n, const std::optional<dhcp_message>& answer) {
    if (!answer)
      return;
    if (answer->kind == dhcp_message::nak) {
      held.erase(n);
      return;
    }
    const auto address = answer->your_address;
    CHECK(bench.config.range->contains(address));
    CHECK(address != bench.host.gateway);
    CHECK(others_with(address, n) == 0);
    held[n] = {address, bench.now + *answer->lease};
    ++leases;
  }
  void answer_probes() {
    for (const auto& probe : std::vector<arp_packet>{bench.probes})
      for (const auto& [n, has] : held)
        if (has.address == probe.target && has.until > bench.now)
          bench.arp_from(vm(n), has.address);
  }

  dhcp_bench bench;
  std::map<std::uint64_t, holding> held;
  int leases = 0;
};

void run(std::uint32_t seed, bool with_file) {
  CAPTURE(seed);
  std::mt19937 random{seed};
  auto config = with_range("192.168.105.10", "192.168.105.29");
  config.lease_time = 300s;
  config.reservations = {{vm(1), ip("192.168.105.15"), ""}};
  believers all{config};
  auto& b = all.bench;
  std::chrono::sys_seconds calendar{1'764'500'000s};
  for (int step = 0; step < 5000; ++step) {
    const std::uint64_t n = 1 + random() % 40;
    switch (random() % 12) {
    case 0:
      if (all.holds(n))
        b.release(vm(n), all.held[n].address);
      all.held.erase(n);
      break;
    case 1:
      if (all.holds(n))
        b.decline(vm(n), all.held[n].address);
      all.held.erase(n);
      break;
    case 2:
      all.acknowledged(n, b.reboot(vm(n), {ip("192.168.105.10").value +
                                           static_cast<std::uint32_t>(random() % 25)}));
      break;
    case 3: { // the daemon goes, and comes back
      if (with_file) {
        const auto text = render_leases(remembered(b.server.leases(), b.now, calendar));
        b.restart();
        restore(parse_leases(text).leases, b.server.leases(), config.lease_time, b.now, calendar);
      }
      break;
    }
    case 4: {
      const std::chrono::seconds passed{random() % 100};
      b.now += passed;
      calendar += passed;
      break;
    }
    case 5:
    case 6:
      if (all.holds(n))
        all.acknowledged(n, b.renew(vm(n), all.held[n].address));
      break;
    default:
      if (const auto offered = b.discover(vm(n)))
        all.acknowledged(n, b.select(vm(n), *offered));
      else
        all.answer_probes();
      break;
    }
    b.now += 50ms;
  }
  CHECK(all.leases > 500);
}

} // namespace

TEST_CASE("model: whatever clients do, no address is with two of them at one time") {
  for (std::uint32_t seed = 1; seed <= 5; ++seed)
    run(seed, false);
}

TEST_CASE("model: the same with restarts, through a lease file") {
  for (std::uint32_t seed = 101; seed <= 105; ++seed)
    run(seed, true);
}
