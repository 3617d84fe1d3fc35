#include <memory>

#include <benchmark/benchmark.h>

#include "actors/switch/forwarding.hpp"

namespace {

using namespace vmswitch;

constexpr mac_table::limits bounds{16384, 1024, 300};

mac_address address_of(std::uint64_t n) {
  return mac_address::from_integer(0x5254'0000'0000 + n);
}

// A slab full of frames from `source`, each to the next of `receivers` addresses from 1 on.
burst full_burst(slab_ref memory, std::uint32_t size, mac_address source, std::uint64_t receivers) {
  std::byte* const data = memory->data();
  burst frames{std::move(memory)};
  const auto wire_size = static_cast<std::uint32_t>(prefix_size) + size;
  std::uint32_t at = 0;
  for (std::uint64_t i = 0; at + wire_size <= slab::capacity; ++i, at += wire_size) {
    write_prefix(data + at, size);
    address_of(1 + i % receivers).write(data + at + prefix_size);
    source.write(data + at + prefix_size + 6);
    frames.append(at, at + wire_size, 1);
  }
  if (receivers == 1)
    frames.mark_one_flow(); // as the codec does
  return frames;
}

// Forwards full bursts of `size`-byte frames from port 0 to `receivers` ports in turn: 1 is what a
// transfer between two VMs looks like, marked as one flow; more is the worst case (no run is longer
// than a frame).
void forward_burst(benchmark::State& state) {
  const auto size = static_cast<std::uint32_t>(state.range(0));
  const auto receivers = static_cast<std::uint32_t>(state.range(1));
  const auto pool = slab_pool::create(std::make_shared<slab_stock>(2), 2, [] {});
  forwarding table{bounds, 1};
  for (std::uint32_t slot = 0; slot <= receivers; ++slot) {
    table.attach({slot, 0});
    table.process({slot, 0}, full_burst(pool->acquire(), 64, address_of(slot), 1), 0);
  }
  const burst frames = full_burst(pool->acquire(), size, address_of(0), receivers);
  for (auto _ : state)
    benchmark::DoNotOptimize(table.process({0, 0}, frames, 1));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(frames.frames()));
}
BENCHMARK(forward_burst)->ArgsProduct({{64, 1514}, {1, 8}});

// Looks up one of `size` learned addresses after another.
void find_address(benchmark::State& state) {
  const auto size = static_cast<std::uint64_t>(state.range(0));
  mac_table table{{65536, 65536, 300}, 0x9e3779b97f4a7c15};
  for (std::uint64_t i = 0; i < size; ++i)
    table.learn(address_of(i), 1, 0);
  std::uint64_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(table.find(address_of(next), 1));
    next = next + 1 < size ? next + 1 : 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_address)->Arg(2)->Arg(256)->Arg(16384)->Arg(65536);

} // namespace
