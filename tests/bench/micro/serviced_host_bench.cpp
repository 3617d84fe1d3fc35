#include <memory>

#include <benchmark/benchmark.h>

#include "transport/frame/burst_builder.hpp"
#include "vmnet/dns/dns_addresses.hpp"
#include "vmnet/serviced_host.hpp"

namespace {

using namespace vmswitch;

/// Takes everything and looks at nothing.
class sink_host final : public host_interface {
public:
  result<void> start(frame_sink&) override { return {}; }
  void stop() noexcept override {}
  int fd() const noexcept override { return -1; }
  result<bool> process() override { return false; }
  frame_tally write(const burst& frames) override {
    benchmark::DoNotOptimize(frames.frames());
    return {};
  }
  mac_address address() const noexcept override { return mac_address::from_integer(0x5255); }
  std::string describe() const override { return {}; }
};

class no_sink final : public frame_sink {
public:
  bool deliver(std::span<const std::byte>) override { return true; }
  bool has_room() const noexcept override { return true; }
};

dns_setup dns() {
  return {resolve_dns({}, {}, {}), dns_server_addresses({}), 1500, {}, 1};
}

// What the look for service frames costs a burst of 64 frames that has none; with the argument 0
// the backend alone. TCP to the gateway, 1514 bytes each.
void unicast_burst(benchmark::State& state) {
  const auto pool = slab_pool::create(std::make_shared<slab_stock>(4), 4, [] {});
  burst_builder builder{pool};
  std::vector<std::byte> frame(1514);
  mac_address::from_integer(0x5255).write(frame.data());
  frame[12] = std::byte{8};
  frame[14] = std::byte{0x45};
  frame[23] = std::byte{6};
  for (int i = 0; i < 64; ++i)
    builder.append(frame);
  const auto frames = builder.take();

  no_sink out;
  std::unique_ptr<host_interface> host = std::make_unique<sink_host>();
  if (state.range(0) != 0)
    host = std::make_unique<serviced_host>(std::move(host),
                                           host_services{resolve_dhcp({}, {}), {}, dns(), {}},
                                           [](const service_note&) {});
  if (!host->start(out))
    state.SkipWithError("the host does not start");
  for (auto _ : state)
    benchmark::DoNotOptimize(host->write(frames));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * frames.frames());
}
BENCHMARK(unicast_burst)->Arg(0)->Arg(1);

} // namespace
