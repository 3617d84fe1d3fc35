#include "app/control/control_server.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "app/control/access.hpp"
#include "app/control/capture_api.hpp"
#include "app/control/control_api.hpp"
#include "app/control/control_path.hpp"
#include "app/control/event_ring.hpp"
#include "app/control/http_server.hpp"
#include "app/control/metrics.hpp"
#include "app/control/ports_api.hpp"
#include "app/control/router.hpp"
#include "app/control/web_entrance.hpp"
#include "app/control/web_guard.hpp"
#include "app/dashboard/dashboard_routes.hpp"
#include "app/shortage.hpp"
#include "transport/thread_name.hpp"

namespace vmswitch {

namespace asio = boost::asio;

namespace {

// Some megabytes, should the control thread get no CPU.
constexpr std::size_t most_events_under_way = 4096;

} // namespace

struct control_server::implementation {
  implementation(listening_socket socket, access_rules access, control_hooks with)
      : hooks{on_this_thread(std::move(with))},
        server{context, make_unix_door(std::move(socket), std::move(access)),
               [this](http_request request, const responder& answer) {
                 if (auto refusal = refuse_foreign(request))
                   answer(std::move(*refusal));
                 else
                   routes.handle(std::move(request), answer);
               }} {
    facts.socket = server.name();
    facts.connections = [this] { return server.connections(); };
    add_control_api(routes, hooks, facts, events);
    captures.add_to(routes);
    ports.add_to(routes);
    add_metrics(routes, hooks, [this] { return measure(); });
    add_dashboard(routes);
  }
  // Once the rest is made: nothing else of it is touched by another thread.
  result<void> start(const control_settings& settings) {
    if (settings.dashboard) {
      auto opened = web_entrance::open(context, *settings.dashboard, control_role::full, routes);
      if (!opened)
        return fail("dashboard: " + opened.error().text, opened.error().code);
      entrance = std::move(*opened);
      spdlog::info("dashboard: {}", entrance->url());
    }
    try {
      thread = std::thread{[this] {
        name_this_thread("vmswitch-ctl");
        serve();
      }};
    } catch (const std::system_error& thrown) {
      auto lacking = shortage(thrown);
      return fail(std::move(lacking.text), lacking.code);
    }
    return {};
  }
  // What is lacking costs one client his answer, and the VMs nothing.
  void serve() {
    for (;;) {
      try {
        context.run();
        return;
      } catch (const std::exception& thrown) {
        spdlog::error("control socket: {}", shortage(thrown).text);
      }
    }
  }
  // What the daemon's threads have to say is looked at on ours.
  control_hooks on_this_thread(control_hooks with) {
    with.inspect = [this, ask = std::move(with.inspect)](
                       inspection_scope scope,
                       std::function<void(std::shared_ptr<const daemon_snapshot>)> done) {
      ask(scope, [this, done = std::move(done)](std::shared_ptr<const daemon_snapshot> seen) {
        asio::post(context, [done, seen = std::move(seen)] { done(seen); });
      });
    };
    with.order_forward = [this, place = std::move(with.order_forward)](forward_order order) {
      order.done = [this, done = std::move(order.done)](const result<void>& outcome) {
        asio::post(context, [done, outcome] { done(outcome); });
      };
      place(std::move(order));
    };
    with.open_dashboard = [this](const loopback_endpoint& at, control_role role) {
      return open_entrance(at, role);
    };
    return with;
  }
  result<std::unique_ptr<stream_source>> open_entrance(const loopback_endpoint& at,
                                                       control_role role) {
    if (*entrances >= most_entrances)
      return fail("too many dashboards are open: end one of them");
    return web_entrance::open(context, at, role, routes).map([this](auto opened) {
      return keep_open(std::move(opened), entrances);
    });
  }
  ~implementation() {
    asio::post(context, [this] {
      server.close();
      if (entrance)
        entrance->close();
      context.stop();
    });
    if (thread.joinable())
      thread.join();
  }

  metrics_facts measure() const {
    metrics_facts found;
    found.started_seconds = std::chrono::duration<double>(facts.started.time_since_epoch()).count();
    found.process = measure_process();
    found.control_connections = server.connections();
    found.control_displaced = server.displaced();
    found.control_answers = server.answered();
    return found;
  }

  control_hooks hooks;
  control_facts facts;
  router routes;
  event_ring events;
  std::atomic<std::size_t> events_under_way{0};
  std::atomic<std::uint64_t> events_lost{0};
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  capture_api captures{context, hooks};
  ports_api ports{context, hooks};
  http_server server;
  std::unique_ptr<web_entrance> entrance; // null: none is configured
  std::shared_ptr<std::size_t> entrances = std::make_shared<std::size_t>(0); // asked for
  std::thread thread;
};

control_server::control_server(std::unique_ptr<implementation> made)
    : implementation_{std::move(made)} {}

control_server::~control_server() = default;

void control_server::publish(daemon_event event) {
  auto& to = *implementation_;
  if (to.events_under_way.fetch_add(1, std::memory_order_relaxed) >= most_events_under_way) {
    to.events_under_way.fetch_sub(1, std::memory_order_relaxed);
    to.events_lost.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  asio::post(to.context, [&to, event = std::move(event)] {
    to.events_under_way.fetch_sub(1, std::memory_order_relaxed);
    const auto now = std::chrono::system_clock::now();
    to.events.add(event, now);
    if (const auto lost = to.events_lost.exchange(0, std::memory_order_relaxed); lost > 0)
      to.events.add_lost(lost, now);
  });
}

result<std::unique_ptr<control_server>> control_server::open(const std::string& path,
                                                             const control_settings& settings,
                                                             control_hooks hooks) {
  auto access = resolve_access(settings);
  if (!access)
    return tl::unexpected{access.error()};
  auto socket = listening_socket::open({listen_type::stream, path, settings.group, settings.mode});
  if (!socket)
    return tl::unexpected{socket.error()};
  auto made =
      std::make_unique<implementation>(std::move(*socket), std::move(*access), std::move(hooks));
  if (auto started = made->start(settings); !started)
    return tl::unexpected{started.error()};
  return std::unique_ptr<control_server>{new control_server{std::move(made)}};
}

result<std::unique_ptr<control_server>> open_control(const control_settings& settings,
                                                     control_hooks hooks) {
  const bool is_usual = !settings.path;
  const auto path = settings.path.value_or(settings.usual);
  if (path.empty()) {
    if (settings.dashboard)
      return fail("the dashboard needs the control socket, which is switched off");
    return nullptr;
  }
  auto made = [&]() -> result<std::unique_ptr<control_server>> {
    if (is_usual)
      if (auto folder = make_control_folder(path, ::geteuid()); !folder)
        return tl::unexpected{folder.error()};
    return control_server::open(path, settings, std::move(hooks));
  }();
  if (made) {
    spdlog::info("control socket: {}", path);
    return made;
  }
  if (!is_usual || settings.dashboard)
    return fail("control socket: " + made.error().text, made.error().code);
  spdlog::warn("no control socket: {}; for one elsewhere: --control PATH, for none: --control none",
               made.error().text);
  return nullptr;
}

} // namespace vmswitch
