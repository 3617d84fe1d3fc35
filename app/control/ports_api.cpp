#include "app/control/ports_api.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "app/control/json_views.hpp"
#include "app/control/port_names.hpp"
#include "app/control/port_patch.hpp"

namespace vmswitch {

namespace {

http_response refusal(const port_answer& why) {
  return error_response(why.kind == port_answer::what::name_taken ? 409 : 404, why.text);
}

} // namespace

void ports_api::add_to(router& routes) {
  routes.add(
      "PATCH", "/v1/ports/{port}", control_role::full,
      [this](const http_request& request, const responder& answer) { handle(request, answer); });
}

void ports_api::handle(const http_request& request, const responder& answer) {
  auto wanted = parse_port_patch(request.body);
  if (!wanted)
    return answer(error_response(400, wanted.error().text));
  const auto network = request.query.find("network");
  hooks_.inspect({}, // names are told in any case
                 [this, answer,
                  network = network == request.query.end() ? std::string{} : network->second,
                  asked = change_port{request.captures.at("port"),
                                      std::move(*wanted),
                                      to_string(request.caller),
                                      {}}](const std::shared_ptr<const daemon_snapshot>& seen) {
                   change(*seen, network, asked, answer);
                 });
}

void ports_api::change(const daemon_snapshot& seen, const std::string& network, change_port wanted,
                       const responder& answer) {
  const auto found = ports_named(seen, wanted.port, network);
  if (found.empty())
    return answer(
        error_response(404, fmt::format("there is no port {}: it may have gone", wanted.port)));
  if (found.size() > 1)
    return answer(error_response(
        400, fmt::format("networks {} and {} have a port {}: say which, as in ?network={}",
                         found[0].network->name, found[1].network->name, wanted.port,
                         found[0].network->name)));
  if (found.front().port->is_host() && wanted.change.isolated.value_or(false))
    return answer(error_response(
        400, "isolated: not for the host, whom isolated VMs reach; set it down, or name a VM"));
  const auto where = found.front().network->name;
  wanted.port = found.front().port->brief.name; // which stays
  wanted.reply = std::make_shared<port_reply>(
      [this, way = door_.get(), where, port = wanted.port, answer](const port_answer& came) {
        way.post([this, where, port, answer, came] {
          if (came.kind == port_answer::what::done)
            show(where, port, answer);
          else
            answer(refusal(came));
        });
      });
  hooks_.change_port(where, std::move(wanted));
}

void ports_api::show(const std::string& network, const std::string& port, const responder& answer) {
  hooks_.inspect(
      {.ports = true, .macs = true},
      [network, port, answer](const std::shared_ptr<const daemon_snapshot>& seen) {
        const auto found = ports_named(*seen, port, network);
        if (found.empty())
          return answer(refusal({port_answer::what::no_port, "it was changed, and has gone then"}));
        const auto& [where, what] = found.front();
        answer({200, to_text(port_json(*where, *what, std::chrono::system_clock::now()))});
      });
}

} // namespace vmswitch
