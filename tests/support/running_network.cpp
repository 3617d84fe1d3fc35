#include "tests/support/running_network.hpp"

#include "actors/messages.hpp"

namespace vmswitch::test {

namespace {

std::size_t registered(std::size_t threads) {
  static const bool once = (register_messages(), true);
  static_cast<void>(once);
  return threads;
}

} // namespace

running_network::running_network(network_config config, std::size_t workers,
                                 decltype(network_runtime::make_host) make_host)
    : workers_{"workers", workers}, serial_{"serial", 1},
      configuration_{registered(1)}, system_{configuration_} {
  network_ = spawn_network(system_, std::move(config),
                           {&workers_,
                            &serial_,
                            stock_,
                            42,
                            [this](network_event event) {
                              const std::lock_guard lock{mutex_};
                              events_.push_back(std::move(event));
                              changed_.notify_all();
                            },
                            {},
                            std::move(make_host)});
}

running_network::~running_network() {
  stop();
  network_ = {};
  system_.await_all_actors_done();
  workers_.stop(); // before the system goes: see run_daemon
  serial_.stop();
}

network_event running_network::next_event() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return !events_.empty(); });
  auto event = std::move(events_.front());
  events_.pop_front();
  down_ = down_ || event.kind == network_event::what::down;
  return event;
}

void running_network::stop() {
  tell(network_, vmswitch::stop{});
  while (!down_)
    next_event();
}

} // namespace vmswitch::test
