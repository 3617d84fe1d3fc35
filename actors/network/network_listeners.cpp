#include "actors/network/network_state.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "actors/listener/datagram_listener_actor.hpp"
#include "actors/listener/stream_listener_actor.hpp"

namespace vmswitch {

void network_state::start_listeners() {
  if (const auto opened = open_listeners(); !opened) {
    fail(network_event::cause::listener, opened.error());
    return;
  }
  now = phase::up;
  report(network_event::what::up);
}

result<void> network_state::open_listeners() {
  // All sockets first: a network comes up whole or not at all.
  std::vector<listening_socket> sockets;
  for (const auto& each : config.listeners) {
    auto socket = listening_socket::open(each);
    if (!socket)
      return tl::unexpected{socket.error()};
    sockets.push_back(std::move(*socket));
  }
  for (std::size_t i = 0; i < sockets.size(); ++i)
    if (auto opened = open_listener(std::move(sockets[i]), config.listeners[i]); !opened)
      return opened;
  return {};
}

result<void> network_state::open_listener(listening_socket socket, const listen_config& opened) {
  caf::actor listener;
  if (socket.type() == listen_type::stream) {
    listener = spawn_stream_listener(self->system(), runtime.workers, std::move(socket), me());
  } else {
    auto shared = datagram_socket::create(std::move(socket), max_frame());
    if (!shared)
      return tl::unexpected{shared.error()};
    listener = spawn_datagram_listener(
        self->system(), runtime.workers,
        {std::move(*shared), me(), runtime.stock, max_frame(), config.limits});
  }
  auto free = std::ranges::find_if(listeners, [](const listening& each) { return !each.actor; });
  if (free == listeners.end())
    free = listeners.emplace(free);
  *free = {std::move(listener), opened, 0};
  watch_part(free->actor, part_ended::part::listener,
             static_cast<std::uint32_t>(free - listeners.begin()));
  spdlog::info("network {}: VMs may connect to {}", config.name, opened.path);
  return {};
}

} // namespace vmswitch
