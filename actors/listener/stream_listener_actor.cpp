#include "actors/listener/stream_listener_actor.hpp"

#include <optional>
#include <system_error>

#include <spdlog/spdlog.h>

#include "actors/complaint_limiter.hpp"
#include "actors/messages.hpp"
#include "transport/stream_link.hpp"

namespace vmswitch {

namespace {

// So many at most are accepted before the supervisor has given them ports: the others wait in the
// backlog, and ports that close meanwhile are seen in time, even when clients come by the thousand.
constexpr std::size_t most_in_flight = 32;
constexpr std::chrono::milliseconds pressure_pause{100};

struct listener_state {
  explicit listener_state(pinned<listener_state>* actor) : self{actor} {}

  pinned<listener_state>* self;
  // Before the registration, which must go first.
  std::optional<listening_socket> socket;
  dispatch_queue::registration registration;
  caf::actor supervisor;
  std::size_t in_flight = 0;
  bool more_waiting = false;
  bool retry_pending = false;
  complaint_limiter complaints{1, std::chrono::seconds{10}};

  static constexpr const char* name = "stream_listener";

  void accept();
  void on_port();
};

void listener_state::accept() {
  if (!socket || retry_pending)
    return;
  while (in_flight < most_in_flight) {
    auto accepted = socket->accept(may_take::all_but_reserve);
    switch (accepted.status) {
    case accept_status::accepted:
      ++in_flight;
      tell(supervisor, connected{std::make_shared<stream_link>(std::move(accepted.connection)),
                                 socket->path(),
                                 caf::actor{self},
                                 {}});
      break;
    case accept_status::would_block:
      return;
    case accept_status::pressure:
      if (const auto verdict = complaints.judge("accept", now_of(self)); verdict.say)
        spdlog::warn("{}: cannot accept VMs for now ({}); raise the limit of open files "
                     "(ulimit -n, LimitNOFILE){}",
                     socket->path(), std::system_category().message(accepted.error),
                     suppressed_note(verdict.suppressed));
      if (!std::exchange(retry_pending, true)) // one, however many clients knock meanwhile
        tell_after(self, pressure_pause, accept_again{});
      return;
    case accept_status::failed:
      spdlog::error("{}: cannot accept VMs any more: {}", socket->path(),
                    std::system_category().message(accepted.error));
      tell(caf::actor{self}, stop{});
      return;
    }
  }
  more_waiting = true;
}

void listener_state::on_port() {
  --in_flight;
  if (std::exchange(more_waiting, false))
    accept();
}

} // namespace

caf::actor spawn_stream_listener(caf::actor_system& system, dispatch_queue* queue,
                                 listening_socket socket, caf::actor supervisor) {
  auto shared = std::make_shared<listening_socket>(std::move(socket));
  return spawn_pinned<listener_state>(
      system, queue, [shared, supervisor](pinned<listener_state>* self) -> caf::behavior {
        auto& state = state_of(self);
        state.socket.emplace(std::move(*shared));
        state.supervisor = supervisor;
        self->on_ready([&state](readiness) { state.accept(); });
        if (auto watched = self->watch(state.socket->fd()))
          state.registration = std::move(*watched);
        else {
          spdlog::error("{}: {}", state.socket->path(), watched.error().text);
          tell(caf::actor{self}, stop{}); // which ends the network
        }
        return {
            [&state](const accept_again&) {
              state.retry_pending = false;
              state.accept();
            },
            [&state](const port_started&) { state.on_port(); },
            [&state](const change_access& message) {
              const auto done = state.socket ? state.socket->change_access(message.access)
                                             : fail("the socket is closed");
              tell(state.supervisor,
                   part_changed{message.ticket, done ? std::string{} : done.error().text});
            },
            [](const change_limits&) {}, // it has none of its own
            [&state](const stop&) {
              state.registration.reset();
              state.socket.reset();
              state.self->quit();
            },
        };
      });
}

} // namespace vmswitch
