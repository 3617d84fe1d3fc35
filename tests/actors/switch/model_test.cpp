// A seeded model test: the switch agrees, frame by frame and in order, with a slow, obvious one.

#include <map>

#include <doctest/doctest.h>

#include "actors/switch/forwarding.hpp"
#include "tests/support/bursts.hpp"
#include "tests/support/seeded_random.hpp"

namespace vmswitch {

using test::burst_maker;
using test::frame;
using test::frames_of;
using test::vm_mac;

namespace {

constexpr std::uint32_t port_count = 6;

class obvious_switch {
public:
  void forward(std::uint32_t from, const frame& bare) {
    const auto view = ethernet_view::unchecked(bare);
    if (flags[from].down)
      return drops.add(drop_reason::port_down, 1);
    if (view.source().is_group())
      return drops.add(drop_reason::group_source, 1);
    where_[view.source()] = from;
    const auto known = where_.find(view.destination());
    if (!view.destination().is_group() && known != where_.end()) {
      if (known->second == from)
        drops.add(drop_reason::same_port, 1);
      else if (!passes(from, known->second))
        drops.add(drop_reason::port_isolated, 1);
      else
        received[known->second].push_back(bare);
      return;
    }
    for (std::uint32_t slot = 0; slot < port_count; ++slot)
      if (slot != from && passes(from, slot))
        received[slot].push_back(bare);
  }
  void forget(std::uint32_t slot) {
    std::erase_if(where_, [&](const auto& each) { return each.second == slot; });
  }
  std::vector<frame> received[port_count];
  port_flags flags[port_count];
  drop_counters drops;

private:
  bool passes(std::uint32_t from, std::uint32_t to) const {
    return !flags[to].down && !(flags[from].isolated && flags[to].isolated);
  }
  std::map<mac_address, std::uint32_t> where_;
};

} // namespace

TEST_CASE("random bursts are forwarded as by a slow, obvious switch") {
  test::seeded_random random;
  CAPTURE(random.seed());
  obvious_switch model;
  forwarding table{{10'000, 10'000, 300}, random.seed()};
  std::uint32_t generation[port_count] = {};
  for (std::uint32_t slot = 0; slot < port_count; ++slot)
    table.attach({slot, 0});
  burst_maker make;
  std::vector<frame> received[port_count];
  drop_counters drops;

  const auto random_mac = [&] {
    switch (random.below(12)) {
    case 0:
      return broadcast_mac;
    case 1:
      return mac_address::from_integer(0x0100'5e00'0001ULL + random.below(3));
    default:
      return vm_mac(random.below(20));
    }
  };
  std::uint32_t serial = 0;
  for (int step = 0; step < 3000; ++step) {
    const std::uint32_t from = random.below(port_count);
    if (random.below(200) == 0) {
      table.detach({from, generation[from]});
      table.attach({from, ++generation[from]});
      model.forget(from);
      model.flags[from] = {};
      continue;
    }
    if (random.below(50) == 0) {
      const port_flags flags{random.below(2) == 0, random.below(4) == 0};
      table.change({from, generation[from]}, flags);
      model.flags[from] = flags;
      if (flags.down)
        model.forget(from);
      continue;
    }
    std::vector<frame> frames;
    const std::size_t count = 1 + random.below(24);
    auto destination = random_mac();
    auto source = random_mac();
    for (std::size_t i = 0; i < count; ++i) {
      if (random.below(3) == 0)
        destination = random_mac();
      if (random.below(6) == 0)
        source = random_mac();
      std::vector<std::byte> payload(4 + random.below(3) * 40);
      write_prefix(payload.data(), serial++);
      frames.push_back(test::ethernet(destination, source, 0x88b5, payload));
      model.forward(from, frames.back());
    }
    const auto in = make(frames);
    const auto outcome = table.process({from, generation[from]}, in, 0);
    drops += outcome.drops;
    for (const auto& each : outcome.unicasts)
      for (auto& bare : frames_of(each.frames))
        received[each.slot].push_back(std::move(bare));
    if (outcome.flood)
      for (std::uint32_t slot = 0; slot < port_count; ++slot)
        if (table.floods_to(slot))
          for (auto& bare : frames_of(*outcome.flood))
            received[slot].push_back(std::move(bare));
  }
  for (std::uint32_t slot = 0; slot < port_count; ++slot) {
    CAPTURE(slot);
    REQUIRE(received[slot].size() > 100);
    CHECK(received[slot] == model.received[slot]);
  }
  for (std::size_t i = 0; i < drop_reason_count; ++i) {
    const auto reason = static_cast<drop_reason>(i);
    CAPTURE(to_string(reason));
    CHECK(drops[reason] == model.drops[reason]);
  }
}

} // namespace vmswitch
