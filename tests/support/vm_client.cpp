#include "tests/support/vm_client.hpp"

#include <chrono>

#include <poll.h>

namespace vmswitch::test {

namespace {

using clock = frame_socket::clock;

// A switch that takes nothing for so long is broken: better a message than a test that hangs.
constexpr std::chrono::seconds send_patience{5};
constexpr int resend_tick_ms = 50;

} // namespace

simulated_vm::time vm_clock() {
  return std::chrono::duration_cast<simulated_vm::time>(clock::now().time_since_epoch());
}

result<void> vm_client::send(const simulated_vm::frames& frames) {
  std::vector<std::byte> wire;
  for (const auto& bare : frames)
    append_wire_form(wire, bare);
  return socket_.send_wire(wire, clock::now() + send_patience);
}

result<void> vm_client::serve() {
  const auto now = vm_clock();
  auto answers = vm_.on_time(now);
  const auto received = socket_.receive(clock::now(), [&](std::span<const std::byte> bare) {
    auto more = vm_.on_frame(bare, now);
    answers.insert(answers.end(), more.begin(), more.end());
    const auto outer = ethernet_view::parse(bare);
    if (visit_ && outer && (outer->destination().is_group() || outer->destination() == vm_.mac()))
      visit_(bare);
  });
  if (!received)
    return tl::unexpected{received.error()};
  return send(answers);
}

result<bool> serve_until(std::span<vm_client* const> clients, const std::function<bool()>& done,
                         frame_socket::deadline until) {
  std::vector<pollfd> watched;
  for (auto* client : clients)
    watched.push_back({client->socket().fd(), POLLIN, 0});
  while (!done()) {
    if (clock::now() >= until)
      return false;
    ::poll(watched.data(), watched.size(), resend_tick_ms);
    for (auto* client : clients)
      if (auto served = client->serve(); !served)
        return tl::unexpected{
            error{client->vm().name() + ": " + served.error().text, served.error().code}};
  }
  return true;
}

} // namespace vmswitch::test
