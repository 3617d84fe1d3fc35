#include "app/network_fleet.hpp"

#include <algorithm>
#include <exception>
#include <random>
#include <utility>

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

#include "actors/inspect/inspector_actor.hpp"
#include "actors/messages.hpp"
#include "actors/network/forward_desk.hpp"
#include "app/shortage.hpp"

namespace vmswitch {

namespace {

// Free slab memory that is kept for the next load: 4 MiB.
constexpr std::size_t slabs_kept = 32;

std::uint64_t random_seed() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

// CAF terminates the process when one of its threads does not start: its workers, clock and
// printer. So see beforehand whether there are as many, which throws.
std::size_t startable(std::size_t scheduler_threads) {
  const dispatch_queue as_many{"vmswitch", scheduler_threads + 2};
  return scheduler_threads;
}

void reply(network_fleet::answer& to, const network_event& event) {
  if (auto done = std::exchange(to, nullptr))
    done(event);
}

network_event no_such(const std::string& name) {
  network_event event{network_event::what::failed, name, {}, {}, 0, 0};
  event.text = "there is no such network";
  return event;
}

} // namespace

network_fleet::network_fleet(boost::asio::io_context& context, std::size_t workers, answer failed,
                             std::function<void(daemon_event)> publish)
    : context_{context}, failed_{std::move(failed)}, publish_{std::move(publish)},
      stock_{std::make_shared<slab_stock>(slabs_kept)}, workers_{"vmswitch", workers},
      configuration_{startable(1)}, system_{configuration_}, inspector_{spawn_inspector(system_)},
      forward_desk_{spawn_forward_desk(system_)} {}

network_fleet::~network_fleet() {
  join();
}

// An actor that has ended still touches the actor system on its worker's last steps: the queues
// stop when all have ended, and before the system goes.
void network_fleet::join() {
  if (!inspector_)
    return;
  for (auto& each : networks_) {
    each->actor = {};
    if (each->serial)
      busy_.push_back(std::move(each->serial));
  }
  tell(std::exchange(inspector_, {}), stop{});
  tell(std::exchange(forward_desk_, {}), stop{});
  system_.await_all_actors_done();
  workers_.stop();
  for (auto& queue : busy_)
    queue->stop();
}

void network_fleet::watch_all() {
  watch_networks watched;
  for (const auto& each : networks_)
    watched.networks.push_back({each->name, each->actor});
  tell(forward_desk_, watched);
  tell(inspector_, std::move(watched));
}

void network_fleet::publish(const char* kind, const network_event& event, std::string text) {
  if (publish_)
    publish_({kind, event.network, {}, {}, std::move(text)});
}

void network_fleet::add(const network_config& config, answer done) {
  if (find(config.name) != nullptr) {
    auto event = no_such(config.name);
    event.text = "there is a network of that name";
    boost::asio::post(context_, [done = std::move(done), event] { done(event); });
    return;
  }
  auto made = std::make_unique<network>();
  made->name = config.name;
  std::uint64_t seed = 0;
  try {
    seed = random_seed();
    if (config.host.mode != host_mode::isolated)
      made->serial = std::make_unique<dispatch_queue>("vmnet", 1);
  } catch (const std::exception& thrown) {
    auto lacking = shortage(thrown);
    network_event event{network_event::what::failed, config.name, std::move(lacking.text)};
    event.code = lacking.code;
    publish("network_failed", event, event.text);
    boost::asio::post(context_,
                      [done = std::move(done), event = std::move(event)] { done(event); });
    return;
  }
  made->on_up = std::move(done);
  auto& added = *networks_.emplace_back(std::move(made));
  added.actor = spawn_network(
      system_, config,
      {&workers_, added.serial.get(), stock_, seed,
       [this](network_event event) {
         boost::asio::post(context_, [this, event = std::move(event)] { on_event(event); });
       },
       publish_});
  watch_all();
}

void network_fleet::remove(const std::string& name, answer done) {
  auto* leaving = find(name);
  if (leaving == nullptr) {
    boost::asio::post(context_, [done = std::move(done), event = no_such(name)] { done(event); });
    return;
  }
  leaving->on_down = std::move(done);
  tell(leaving->actor, stop{});
}

network_fleet::network* network_fleet::begin_change(const std::string& name, const answer& done) {
  auto* changed = find(name);
  if (changed == nullptr) {
    boost::asio::post(context_, [done, event = no_such(name)] { done(event); });
    return nullptr;
  }
  changed->ticket = ++last_ticket_;
  changed->on_changed = done;
  return changed;
}

void network_fleet::stop_all(std::function<void()> down) {
  all_down_ = std::move(down);
  if (networks_.empty())
    boost::asio::post(context_, all_down_);
  for (const auto& each : networks_)
    tell(each->actor, stop{});
}

network_fleet::network* network_fleet::find(const std::string& name) {
  const auto at = std::ranges::find(networks_, name, [](const auto& each) { return each->name; });
  return at == networks_.end() ? nullptr : at->get();
}

void network_fleet::on_event(const network_event& event) {
  auto* about = find(event.network);
  if (about == nullptr)
    return;
  switch (event.kind) {
  case network_event::what::up:
    about->is_up = true;
    publish("network_up", event, "network " + event.network + " is up");
    reply(about->on_up, event);
    break;
  case network_event::what::failed:
    about->failure = event;
    publish("network_failed", event, event.text);
    if (std::exchange(about->is_up, false))
      failed_(event);
    break;
  case network_event::what::changed:
    if (event.ticket == about->ticket)
      reply(about->on_changed, event);
    break;
  case network_event::what::down:
    on_down(event);
    break;
  }
}

void network_fleet::on_down(const network_event& event) {
  const auto at =
      std::ranges::find(networks_, event.network, [](const auto& each) { return each->name; });
  const auto gone = std::move(*at);
  networks_.erase(at);
  gone->actor = {};
  watch_all();
  publish("network_down", event, "network " + event.network + " is down");
  // Its thread is done with it, but for the last steps, which the queue waits for. Not so if
  // something hangs there: then it is left alone.
  if (gone->serial && !event.text.empty())
    busy_.push_back(std::move(gone->serial));
  gone->serial.reset();
  auto failure = gone->failure;
  if (failure.network.empty()) {
    failure = event;
    failure.kind = network_event::what::failed;
    failure.text = "the network has stopped";
  }
  reply(gone->on_up, failure);
  reply(gone->on_changed, failure);
  reply(gone->on_down, event);
  if (networks_.empty() && all_down_)
    std::exchange(all_down_, nullptr)();
}

} // namespace vmswitch
