#include "tests/bench/vm/vm_client.hpp"

#include <chrono>

namespace vmswitch::bench {

result<void> introduce(vm_client& a, vm_client& b, int seconds) {
  using clock = std::chrono::steady_clock;
  const auto sizes = frame_sizes::parse("64").value();
  const auto say = [&](vm_client& from, mac_address to, frame_kind kind) {
    return from.send(wire_batch{from.address(), to, kind, sizes, 1}.number(0));
  };
  bool answered_a = false;
  bool answered_b = false;
  // Returns false on hang-up.
  const auto listen = [&](vm_client& self, vm_client& other, bool& answered) {
    bool hello = false;
    const bool alive = self.receive([&](std::span<const std::byte> frame) {
      const auto header = ethernet_view::unchecked(frame);
      if (header.source() != other.address())
        return;
      hello = hello || kind_of(frame) == frame_kind::hello;
      answered =
          answered || (kind_of(frame) == frame_kind::ack && header.destination() == self.address());
    });
    if (hello && !say(self, other.address(), frame_kind::ack))
      return false;
    return alive || !self.hung_up();
  };
  a.set_patience(20);
  b.set_patience(20);
  for (const auto end = clock::now() + std::chrono::seconds{seconds}; clock::now() < end;) {
    if (!say(a, broadcast_mac, frame_kind::hello) || !say(b, broadcast_mac, frame_kind::hello))
      return fail("the switch hung up during the introduction");
    if (!listen(a, b, answered_a) || !listen(b, a, answered_b))
      return fail("the switch hung up during the introduction");
    if (answered_a && answered_b) {
      a.set_patience(0);
      b.set_patience(0);
      return {};
    }
  }
  return fail("two clients of the switch could not reach each other within " +
              std::to_string(seconds) + " s");
}

} // namespace vmswitch::bench
