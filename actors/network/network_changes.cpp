#include "actors/network/network_state.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "actors/network/network_forwards.hpp"
#include "actors/network/network_host.hpp"

namespace vmswitch {

namespace {

std::string place(const std::string& path) {
  return std::filesystem::path{path}.lexically_normal().string();
}

auto find_listener(std::vector<network_state::listening>& all, const std::string& path) {
  return std::ranges::find_if(all, [wanted = place(path)](const auto& each) {
    return each.actor && each.leaving == 0 && place(each.config.path) == wanted;
  });
}

std::string no_socket(const std::string& path) {
  return "the network has no socket " + path;
}

} // namespace

void network_state::answer(std::uint64_t ticket, std::string failure) {
  runtime.report({network_event::what::changed, config.name, std::move(failure), {}, 0, ticket});
}

void network_state::on_part_changed(const part_changed& message) {
  auto done = asked.extract(message.ticket);
  if (done && message.failure.empty())
    done.mapped()();
  answer(message.ticket, message.failure);
}

void network_state::on_change(const change_limits& message) {
  config.limits = message.limits;
  const auto shared = caf::make_message(message);
  tell_shared(vm_switch, shared);
  if (host)
    tell_shared(host, shared);
  for (const auto& each : listeners)
    if (each.actor)
      tell_shared(each.actor, shared);
  for (const auto& each : slots)
    if (each.port)
      tell_shared(each.port, shared);
  answer(message.ticket, {});
}

void network_state::on_change(const change_services& message) {
  const auto commit = [this, dhcp = message.config.dhcp, dns = message.config.dns] {
    config.dhcp = dhcp;
    config.dns = dns;
  };
  auto wanted = config;
  wanted.dhcp = message.config.dhcp;
  wanted.dns = message.config.dns;
  if (!host) { // it will hold when there is one
    commit();
    answer(message.ticket, {});
    return;
  }
  asked.emplace(message.ticket, commit);
  tell(host, adjust_host{message.ticket, make_service_change(wanted), wanted.dhcp});
}

void network_state::on_change(const change_host& message) {
  if (!host) {
    answer(message.ticket, "the network has no host interface");
    return;
  }
  auto wanted = config;
  wanted.host = message.config.host;
  wanted.dhcp = message.config.dhcp;
  wanted.dns = message.config.dns;
  auto next = std::make_shared<std::unique_ptr<host_interface>>(
      make_network_host(wanted, runtime.make_host(wanted.host), self->address()));
  asked.emplace(message.ticket, [this, wanted] {
    config.host = wanted.host;
    config.dhcp = wanted.dhcp;
    config.dns = wanted.dns;
  });
  tell(host, replace_host{message.ticket, std::move(next), wanted});
}

void network_state::on_change(const change_access& message) {
  const auto at = find_listener(listeners, message.access.path);
  if (at == listeners.end()) {
    answer(message.ticket, no_socket(message.access.path));
    return;
  }
  const auto commit = [this, access = message.access] {
    if (const auto changed = find_listener(listeners, access.path); changed != listeners.end()) {
      changed->config.group = access.group;
      changed->config.mode = access.mode;
      isolate(*changed, access.isolated);
    }
  };
  if (at->config.group == message.access.group && at->config.mode == message.access.mode) {
    commit(); // the socket's file stays as it is
    answer(message.ticket, {});
    return;
  }
  asked.emplace(message.ticket, commit);
  tell(at->actor, message);
}

void network_state::on_change(const add_forward& message) {
  asked.emplace(message.ticket, [this, rule = message.rule] { config.forwards.push_back(rule); });
  pass_on(host, forward_add{message.rule, me(), message.ticket});
}

void network_state::on_change(const remove_forward& message) {
  asked.emplace(message.ticket, [this, listen = message.listen] {
    std::erase_if(config.forwards, [&](const auto& each) { return each.listen == listen; });
  });
  pass_on(host, forward_remove{message.listen, me(), message.ticket});
}

void network_state::on_change(const add_listener& message) {
  auto socket = listening_socket::open(message.listener);
  const auto opened = socket ? open_listener(std::move(*socket), message.listener)
                             : result<void>{tl::unexpected{socket.error()}};
  answer(message.ticket, opened ? std::string{} : opened.error().text);
}

// Answered when it has ended. Its VMs are closed, those of a stream too, which could go on: who may
// not connect any more is not on the network.
void network_state::on_change(const remove_listener& message) {
  const auto at = find_listener(listeners, message.path);
  if (at == listeners.end()) {
    answer(message.ticket, no_socket(message.path));
    return;
  }
  at->leaving = message.ticket;
  tell(at->actor, stop{});
  const auto origin = static_cast<std::uint32_t>(at - listeners.begin());
  for (const auto& each : slots)
    if (each.port && each.origin == origin)
      tell(each.port, stop{"its socket was taken out of the configuration"});
}

} // namespace vmswitch
