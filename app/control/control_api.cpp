#include "app/control/control_api.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "app/control/forwards_api.hpp"
#include "app/control/json_views.hpp"
#include "app/control/openapi.hpp"
#include "app/control/port_names.hpp"
#include "app/control/reload_api.hpp"
#include "app/control/service_views.hpp"
#include "app/setting_values.hpp"
#include "app/version.hpp"

namespace vmswitch {

namespace {

using nlohmann::ordered_json;
using picture = std::shared_ptr<const daemon_snapshot>;

http_response json_response(const ordered_json& body) {
  return {200, to_text(body)};
}

std::string query(const http_request& request, std::string_view name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::string{} : found->second;
}

// A name that no network has is a mistake, and not an empty list.
std::optional<http_response> unknown_network(const daemon_snapshot& snapshot,
                                             const std::string& name) {
  if (name.empty() || std::ranges::find(snapshot.networks, name, &network_snapshot::name) !=
                          snapshot.networks.end())
    return {};
  std::string names;
  for (const auto& each : snapshot.networks)
    names += (names.empty() ? "" : ", ") + each.name;
  return error_response(404, fmt::format("there is no network {}; there is: {}", name, names));
}

// A handler that looks into the daemon and shows what it sees.
template <class Show>
http_handler looking(const control_hooks& hooks, inspection_scope scope, Show show) {
  return [&hooks, scope, show](const http_request& request, const responder& answer) {
    hooks.inspect(scope, [request, answer, show](const picture& seen) {
      if (auto refusal = unknown_network(*seen, query(request, "network")))
        answer(std::move(*refusal));
      else
        answer(show(request, *seen));
    });
  };
}

http_response show_network(const http_request& request, const daemon_snapshot& seen) {
  const auto& name = request.captures.at("network");
  if (auto refusal = unknown_network(seen, name))
    return std::move(*refusal);
  return json_response(
      network_json(*std::ranges::find(seen.networks, name, &network_snapshot::name)));
}

http_response show_port(const http_request& request, const daemon_snapshot& seen) {
  const auto& name = request.captures.at("port");
  const auto found = ports_named(seen, name, query(request, "network"));
  if (found.empty())
    return error_response(404, fmt::format("there is no port {}: it may have gone", name));
  const auto& [network, port] = found.front();
  return json_response(port_json(*network, *port, std::chrono::system_clock::now()));
}

ordered_json status_json(const daemon_snapshot& seen, const http_request& request,
                         const control_hooks& hooks, const control_facts& facts) {
  std::size_t up = 0;
  std::ptrdiff_t ports = 0;
  for (const auto& network : seen.networks) {
    up += network.phase == network_phase::up ? 1 : 0;
    ports += std::ranges::count_if(network.ports,
                                   [](const port_snapshot& port) { return !port.is_host(); });
  }
  const auto uptime = std::chrono::steady_clock::now() - facts.started_steady;
  return {{"version", version()},
          {"pid", ::getpid()},
          {"started", time_text(facts.started)},
          {"uptime_seconds", std::chrono::duration_cast<std::chrono::seconds>(uptime).count()},
          {"networks", seen.networks.size()},
          {"networks_up", up},
          {"ports", ports},
          {"log_level", to_string(hooks.log_level_now())},
          {"control_socket", facts.socket},
          {"control_connections", facts.connections()},
          {"role", to_string(request.role)}};
}

// "since" as a parameter, for people, or the header that browsers send; else from now on.
void add_events(router& routes, event_ring& events) {
  routes.add("GET", "/v1/events", control_role::read,
             [&events](const http_request& request, const responder& answer) {
               const auto since = query(request, "since");
               const auto& text = since.empty() ? request.last_event_id : since;
               if (text.empty())
                 return answer(events.watch(events.latest()));
               const auto number = parse_integer(text, 0, std::numeric_limits<std::int64_t>::max());
               if (!number)
                 return answer(error_response(400, "since: " + number.error().text));
               answer(events.watch(static_cast<std::uint64_t>(*number)));
             });
}

// The caller's own role, unless he wants the page to have less.
void add_entrance(router& routes, const control_hooks& hooks) {
  routes.add("POST", "/v1/dashboard", control_role::read,
             [&hooks](const http_request& request, const responder& answer) {
               const auto body = ordered_json::parse(request.body, nullptr, false);
               const auto text = [&](const char* key, const char* otherwise) -> std::string {
                 const auto found = body.find(key);
                 return found == body.end()   ? otherwise
                        : !found->is_string() ? "(no text)"
                                              : found->get<std::string>();
               };
               if (!body.is_object())
                 return answer(error_response(400, "send an object; {} will do"));
               const auto listen = parse_loopback_endpoint(text("listen", "127.0.0.1:0"));
               if (!listen)
                 return answer(error_response(400, "listen: " + listen.error().text));
               const auto role = text("role", "full");
               if (role != "full" && role != "read-only")
                 return answer(error_response(400, "role is \"full\" or \"read-only\""));
               auto opened = hooks.open_dashboard(*listen, role == "full" ? request.role
                                                                          : control_role::read);
               if (!opened)
                 return answer(error_response(409, opened.error().text));
               answer(std::move(*opened));
             });
}

void add_log(router& routes, const control_hooks& hooks, event_ring& events) {
  routes.add("GET", "/v1/log", control_role::read,
             [&hooks](const http_request&, const responder& answer) {
               answer(json_response({{"level", to_string(hooks.log_level_now())}}));
             });
  routes.add("PUT", "/v1/log", control_role::full,
             [&hooks, &events](const http_request& request, const responder& answer) {
               const auto body = ordered_json::parse(request.body, nullptr, false);
               if (!body.is_object() || !body.contains("level") || !body["level"].is_string())
                 return answer(error_response(400, "send the level, as in {\"level\": \"debug\"}"));
               const auto level = parse_log_level(body["level"].get<std::string>());
               if (!level)
                 return answer(error_response(400, level.error().text));
               hooks.set_log_level(*level);
               spdlog::info("log level {} (control socket, {})", to_string(*level),
                            to_string(request.caller));
               events.add({"log_level",
                           {},
                           {},
                           {},
                           fmt::format("log level {}, set by {}", to_string(*level),
                                       to_string(request.caller))},
                          std::chrono::system_clock::now());
               answer(json_response({{"level", to_string(*level)}}));
             });
}

} // namespace

void add_control_api(router& routes, const control_hooks& hooks, const control_facts& facts,
                     event_ring& events) {
  routes.add("GET", "/v1/openapi.json", control_role::read,
             [](const http_request&, const responder& answer) {
               answer({200, std::string{openapi_json()}});
             });
  routes.add("GET", "/v1/status", control_role::read,
             [&hooks, &facts](const http_request& request, const responder& answer) {
               hooks.inspect({}, [&hooks, &facts, request, answer](const picture& seen) {
                 answer(json_response(status_json(*seen, request, hooks, facts)));
               });
             });
  routes.add("GET", "/v1/networks", control_role::read,
             looking(hooks, {.ports = true}, [](const http_request&, const auto& seen) {
               return json_response(networks_json(seen));
             }));
  routes.add("GET", "/v1/networks/{network}", control_role::read,
             looking(hooks, {.ports = true}, show_network));
  routes.add("GET", "/v1/ports", control_role::read,
             looking(hooks, {.ports = true, .macs = true},
                     [](const http_request& request, const auto& seen) {
                       return json_response(ports_json(seen, query(request, "network"),
                                                       std::chrono::system_clock::now()));
                     }));
  routes.add("GET", "/v1/ports/{port}", control_role::read,
             looking(hooks, {.ports = true, .macs = true}, show_port));
  routes.add("GET", "/v1/macs", control_role::read,
             looking(hooks, {.macs = true}, [](const http_request& request, const auto& seen) {
               return json_response(
                   macs_json(seen, query(request, "network"), query(request, "port")));
             }));
  routes.add("GET", "/v1/leases", control_role::read,
             looking(hooks, {.services = true}, [](const http_request& request, const auto& seen) {
               return json_response(leases_json(seen, query(request, "network")));
             }));
  routes.add("GET", "/v1/forwards", control_role::read,
             looking(hooks, {.services = true}, [](const http_request& request, const auto& seen) {
               return json_response(forwards_json(seen, query(request, "network")));
             }));
  add_forward_changes(routes, hooks);
  routes.add("GET", "/v1/dns", control_role::read,
             looking(hooks, {.names = true}, [](const http_request& request, const auto& seen) {
               return json_response(dns_json(seen, query(request, "network")));
             }));
  routes.add("GET", "/v1/captures", control_role::read,
             looking(hooks, {.ports = true}, [](const http_request& request, const auto& seen) {
               return json_response(captures_json(seen, query(request, "network")));
             }));
  add_entrance(routes, hooks);
  add_log(routes, hooks, events);
  add_reload(routes, hooks);
  add_events(routes, events);
}

void add_metrics(router& routes, const control_hooks& hooks,
                 std::function<metrics_facts()> measure) {
  routes.add(
      "GET", "/metrics", control_role::read,
      [&hooks, measure = std::move(measure)](const http_request&, const responder& answer) {
        hooks.inspect({.ports = true}, [measure, answer](const picture& seen) {
          answer({200, metrics_text(*seen, measure()), "text/plain; version=0.0.4; charset=utf-8"});
        });
      });
}

} // namespace vmswitch
