#include "app/control/forwards_api.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/control/forward_request.hpp"
#include "app/control/json_views.hpp"
#include "app/control/service_views.hpp"

namespace vmswitch {

namespace {

using picture = std::shared_ptr<const daemon_snapshot>;

unsigned status_for(int code) {
  switch (code) {
  case EINVAL:
    return 400;
  case ENOENT:
  case ENXIO:
    return 404;
  case ETIMEDOUT:
    return 504;
  case ECANCELED:
    return 503;
  default:
    return 409;
  }
}

http_response refusal(const error& why) {
  return error_response(status_for(why.code), why.text);
}

const forward_status* find(const network_snapshot& network, const forward_listen& listen) {
  const auto& all = network.services.forwards;
  const auto found = std::ranges::find_if(
      all, [&](const forward_status& each) { return each.rule.listen == listen; });
  return found == all.end() ? nullptr : &*found;
}

std::string names_of(const daemon_snapshot& seen) {
  std::string names;
  for (const auto& each : seen.networks)
    names += (names.empty() ? "" : ", ") + each.name;
  return names;
}

// The network of this name; without one, the only one.
result<std::string> choose_network(const daemon_snapshot& seen, const std::string& name) {
  if (name.empty()) {
    if (seen.networks.size() == 1)
      return seen.networks.front().name;
    return fail(fmt::format("network: which one? There are: {}", names_of(seen)), EINVAL);
  }
  if (std::ranges::find(seen.networks, name, &network_snapshot::name) == seen.networks.end())
    return fail(fmt::format("there is no network {}; there is: {}", name, names_of(seen)), ENXIO);
  return name;
}

// Without a name, the one that has the forward.
result<std::string> choose_network(const daemon_snapshot& seen, const forward_removal& wanted) {
  if (!wanted.network.empty())
    return choose_network(seen, wanted.network);
  for (const auto& each : seen.networks)
    if (find(each, wanted.listen) != nullptr)
      return each.name;
  return fail("there is no forward " + to_string(wanted.listen), ENOENT);
}

http_response added(const daemon_snapshot& seen, const std::string& network,
                    const forward_status& otherwise) {
  const auto at = std::ranges::find(seen.networks, network, &network_snapshot::name);
  const auto* now = at == seen.networks.end() ? nullptr : find(*at, otherwise.rule.listen);
  return {201, to_text(forward_json(network, now != nullptr ? *now : otherwise))};
}

void add(const control_hooks& hooks, const http_request& request, const responder& answer) {
  const auto wanted = parse_forward_addition(request.body);
  if (!wanted)
    return answer(error_response(400, wanted.error().text));
  hooks.inspect(
      {}, [&hooks, answer, wanted = *wanted, by = to_string(request.caller)](const picture& seen) {
        const auto network = choose_network(*seen, wanted.network);
        if (!network)
          return answer(refusal(network.error()));
        hooks.order_forward(
            {*network, wanted.rule, by,
             [&hooks, answer, name = *network,
              made = forward_status{wanted.rule, {}, {}, by}](const result<void>& done) {
               if (!done)
                 return answer(refusal(done.error()));
               hooks.inspect({.services = true}, [answer, name, made](const picture& now) {
                 answer(added(*now, name, made));
               });
             }});
      });
}

void remove(const control_hooks& hooks, const http_request& request, const responder& answer) {
  const auto wanted = parse_forward_removal(request.query);
  if (!wanted)
    return answer(error_response(400, wanted.error().text));
  hooks.inspect({.services = true}, [&hooks, answer, wanted = *wanted,
                                     by = to_string(request.caller)](const picture& seen) {
    const auto network = choose_network(*seen, wanted);
    if (!network)
      return answer(refusal(network.error()));
    hooks.order_forward(
        {*network, wanted.listen, by,
         [answer, name = *network, listen = wanted.listen](const result<void>& done) {
           answer(done ? http_response{200,
                                       to_text({{"network", name}, {"removed", to_string(listen)}})}
                       : refusal(done.error()));
         }});
  });
}

} // namespace

void add_forward_changes(router& routes, const control_hooks& hooks) {
  const auto route = [&](const char* method, auto handle) {
    routes.add(method, "/v1/forwards", control_role::full,
               [&hooks, handle](const http_request& request, const responder& answer) {
                 handle(hooks, request, answer);
               });
  };
  route("POST", add);
  route("DELETE", remove);
}

} // namespace vmswitch
