#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "actors/capture/capture_set.hpp"
#include "transport/frame/burst_builder.hpp"

namespace {

using namespace vmswitch;

// Forwards full bursts of `size`-byte frames from one VM to another: without a capture, with one
// whose reader takes everything at once, with one that keeps 96 bytes of each frame, with a filter
// that wants none of them, and with a reader that is stuck.
enum kind : std::int64_t { none, whole, headers, filtered, stuck };

burst full_burst(const std::shared_ptr<slab_pool>& pool, std::size_t size) {
  std::vector<std::byte> frame(size);
  mac_address::from_integer(0x5254'0000'0001).write(frame.data());
  mac_address::from_integer(0x5254'0000'0002).write(frame.data() + 6);
  burst_builder builder{pool};
  while (builder.append(frame) == burst_builder::outcome::added) {
  }
  burst made = builder.take();
  made.mark_one_flow();
  return made;
}

void record_burst(benchmark::State& state) {
  const auto pool = slab_pool::create(std::make_shared<slab_stock>(2), 2, [] {});
  const burst frames = full_burst(pool, static_cast<std::size_t>(state.range(0)));
  forwarding table{{16384, 1024, 300}, 1};
  table.attach({1, 0});
  table.attach({2, 0});
  capture_set captures;
  const auto channel = std::make_shared<capture_channel>([] {});
  if (state.range(1) != none) {
    capture_request request;
    request.snaplen = state.range(1) == headers ? 96 : request.snaplen;
    request.filter = frame_filter::compile(state.range(1) == filtered ? "icmp or arp" : "")
                         .value_or(frame_filter{});
    const std::vector<capture_tap::port> ports{{1, "a"}, {2, "b"}};
    captures.start(std::make_shared<capture_tap>(request, channel), ports, {});
  }
  for (auto _ : state) {
    const auto outcome = table.process({1, 0}, frames, 1);
    if (!captures.empty())
      captures.record({1, 0}, frames, outcome, table, capture_set::clock::now());
    benchmark::DoNotOptimize(outcome);
    if (state.range(1) != stuck)
      while (!channel->readable().empty())
        channel->consume(channel->readable().size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(frames.frames()));
}
BENCHMARK(record_burst)->ArgsProduct({{64, 1514}, {none, whole, headers, filtered, stuck}});

} // namespace
