#include <future>
#include <memory>

#include <benchmark/benchmark.h>

#include "actors/messages.hpp"
#include "tests/bench/micro/allocations.hpp"

namespace {

using namespace vmswitch;

constexpr int hops = 10'000;

// Two actors that throw a burst back and forth.
struct player {
  explicit player(pinned<player>* actor) : self{actor} {}
  pinned<player>* self;
  caf::actor partner;
  static constexpr const char* name = "player";
};

struct game {
  std::promise<void> over;
  int left = hops;
};

caf::actor spawn_player(caf::actor_system& system, dispatch_queue* queue,
                        const std::shared_ptr<std::unique_ptr<game>>& table) {
  return spawn_pinned<player>(system, queue, [table](pinned<player>* self) -> caf::behavior {
    auto& state = state_of(self);
    return {
        [&state](const attach_port& message) { state.partner = message.port; },
        [&state, table](const frames_in& message) {
          if (--(*table)->left == 0)
            (*table)->over.set_value();
          else
            tell(state.partner, frames_in{message.from, message.frames});
        },
        [&state](const stop&) {
          state.partner = {};
          state.self->quit();
        },
    };
  });
}

// What a burst costs from one actor to the next: on one worker, and with a second one at hand.
void hop(benchmark::State& state) {
  static const bool registered = (register_messages(), true);
  benchmark::DoNotOptimize(registered);
  system_config configuration{1};
  caf::actor_system system{configuration};
  dispatch_queue queue{"bench", static_cast<std::size_t>(state.range(0))};
  const auto table = std::make_shared<std::unique_ptr<game>>();
  {
    const auto a = spawn_player(system, &queue, table);
    const auto b = spawn_player(system, &queue, table);
    tell(a, attach_port{{}, b, {}});
    tell(b, attach_port{{}, a, {}});
    const auto pool = slab_pool::create(std::make_shared<slab_stock>(1), 1, [] {});
    burst frames{pool->acquire()};
    frames.append(0, 64, 1);
    const auto before = allocations_so_far();
    for (auto _ : state) {
      *table = std::make_unique<game>();
      auto over = (*table)->over.get_future();
      tell(a, frames_in{{}, frames});
      over.wait();
    }
    state.counters["allocations/hop"] = static_cast<double>(allocations_so_far() - before) /
                                        static_cast<double>(state.iterations() * hops);
    tell(a, stop{});
    tell(b, stop{});
  }
  system.await_all_actors_done();
  queue.stop();
  state.SetItemsProcessed(state.iterations() * hops);
}
BENCHMARK(hop)->Arg(1)->Arg(2)->UseRealTime();

} // namespace
