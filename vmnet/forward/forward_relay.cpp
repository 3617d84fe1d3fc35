#include "vmnet/forward/forward_relay.hpp"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <sys/resource.h>

#include "transport/thread_name.hpp"
#include "vmnet/forward/relayed_forward.hpp"

namespace vmswitch {

namespace asio = boost::asio;

// Its members belong to the thread but for `context.io`, which can be posted to.
struct forward_relay::engine {
  explicit engine(const relay_limits& limits)
      : context{limits}, stays{context.io.get_executor()}, thread{[this] {
          name_this_thread("vmforward");
          context.io.run();
        }} {}
  ~engine() {
    context.io.stop();
    thread.join();
    for (auto& [listen, forward] : forwards)
      forward->close();
  }

  relay_context context;
  asio::executor_work_guard<asio::io_context::executor_type> stays;
  std::map<forward_listen, std::shared_ptr<relayed_forward>> forwards;
  std::thread thread; // last: it uses the others
};

relay_limits relay_limits::of_process() {
  relay_limits limits;
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0)
    limits.total = std::clamp<std::size_t>(descriptors.rlim_cur / 4, 4, limits.total);
  return limits;
}

forward_relay::forward_relay(const relay_limits& limits) : limits_{limits} {}

forward_relay::~forward_relay() = default;

// Asio and std::thread tell of a lack of descriptors or memory by exceptions.
result<void> forward_relay::start() {
  if (engine_)
    return {};
  try {
    engine_ = std::make_unique<engine>(limits_);
  } catch (const std::system_error& problem) {
    return fail(std::string{"cannot start the relay for forwards: "} + problem.what(),
                problem.code().value());
  } catch (const boost::system::system_error& problem) {
    return fail(std::string{"cannot start the relay for forwards: "} + problem.what(),
                problem.code().value());
  }
  return {};
}

result<void> forward_relay::open(const forward_rule& rule) {
  if (auto started = start(); !started)
    return started;
  auto socket = bind_forward(rule.listen);
  if (!socket)
    return tl::unexpected{std::move(socket.error())};
  const bool is_tcp = rule.listen.protocol == forward_protocol::tcp;
  if (is_tcp && ::listen(socket->get(), SOMAXCONN) != 0)
    return cannot_listen(rule.listen, errno);
  auto counters = std::make_shared<relay_counters>();
  counters_.insert_or_assign(rule.listen, counters);
  asio::post(engine_->context.io, [&engine = *engine_, rule, counters, is_tcp,
                                   listening = std::make_shared<owned_fd>(std::move(*socket))] {
    engine.forwards[rule.listen] =
        is_tcp ? make_tcp_relay(engine.context, rule, std::move(*listening), counters)
               : make_udp_relay(engine.context, rule, std::move(*listening), counters);
  });
  return {};
}

result<void> forward_relay::aim(const forward_listen& which, std::optional<ip_address> address) {
  if (!counters_.contains(which))
    return fail("there is no forward " + to_string(which), ENOENT);
  asio::post(engine_->context.io,
             [&engine = *engine_, which, address] { engine.forwards.at(which)->aim(address); });
  return {};
}

void forward_relay::close(const forward_listen& which, std::function<void()> closed) {
  if (counters_.erase(which) == 0) {
    closed();
    return;
  }
  asio::post(engine_->context.io, [&engine = *engine_, which, closed = std::move(closed)] {
    const auto found = engine.forwards.find(which);
    found->second->close();
    engine.forwards.erase(found);
    closed();
  });
}

std::optional<forward_traffic> forward_relay::traffic(const forward_listen& which) const {
  const auto found = counters_.find(which);
  if (found == counters_.end())
    return {};
  return found->second->read();
}

} // namespace vmswitch
