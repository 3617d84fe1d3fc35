#include <memory>

#include <benchmark/benchmark.h>

#include "transport/codec.hpp"

namespace {

using namespace vmswitch;

// How fast frames of one size are found in a full slab.
void scan_slab(benchmark::State& state) {
  const auto size = static_cast<std::uint32_t>(state.range(0));
  const auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 1, [] {});
  slab_ref memory = pool->acquire();
  const auto wire_size = static_cast<std::uint32_t>(prefix_size) + size;
  std::uint32_t end = 0;
  for (; end + wire_size <= slab::capacity; end += wire_size)
    write_prefix(memory->data() + end, size);

  frame_decoder decoder{1518};
  std::uint64_t frames = 0;
  for (auto _ : state) {
    burst found{memory};
    benchmark::DoNotOptimize(decoder.scan(memory->data(), 0, end, found));
    frames += found.frames();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(frames));
}
BENCHMARK(scan_slab)->Arg(64)->Arg(590)->Arg(1514);

} // namespace
