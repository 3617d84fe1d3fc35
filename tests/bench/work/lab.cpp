#include "tests/bench/work/lab.hpp"

namespace vmswitch::bench {

result<void> lab::add(running_switch& tested, std::deque<vm_client>& group, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    auto wire = tested.plug_in();
    if (!wire)
      return tl::unexpected{wire.error()};
    group.emplace_back(std::move(*wire), mac_address::from_integer(next_address_++));
  }
  return {};
}

result<void> lab::plug_in(running_switch& tested, const workload& work) {
  const auto stuck = static_cast<std::size_t>(work.stuck);
  const auto silent = static_cast<std::size_t>(work.idle);
  // Talkers first and in order: the relay joins two neighbours.
  if (auto added = add(tested, pairs, work.vms() - 2 * stuck - silent); !added)
    return added;
  if (auto added = add(tested, troubled, 2 * stuck); !added)
    return added;
  if (auto added = add(tested, idle, silent); !added)
    return added;
  for (std::size_t i = 1; i<pairs.size(); i += work.receivers> 0 ? 1 : 2)
    if (auto met = introduce(pairs[work.receivers > 0 ? 0 : i - 1], pairs[i]); !met)
      return met;
  for (std::size_t i = 0; i + 1 < troubled.size(); i += 2)
    if (auto met = introduce(troubled[i], troubled[i + 1]); !met)
      return met;
  settle();
  return {};
}

// While hundreds of others introduced themselves, nobody has read: a switch may take a VM for stuck
// by now. Those that are to be stuck are left as they are.
void lab::settle() {
  const auto read_all = [](vm_client& vm) {
    vm.set_patience(1);
    while (vm.receive([](std::span<const std::byte>) {}))
      continue;
    vm.set_patience(0);
  };
  for (std::deque<vm_client>* group : {&pairs, &idle})
    for (vm_client& one : *group)
      read_all(one);
  for (std::size_t i = 1; i < troubled.size(); i += 2)
    read_all(troubled[i]);
}

void lab::shut_down() noexcept {
  for (std::deque<vm_client>* group : {&pairs, &troubled, &idle})
    for (vm_client& one : *group)
      one.shut_down();
}

} // namespace vmswitch::bench
