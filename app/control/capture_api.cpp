#include "app/control/capture_api.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "app/control/capture_session.hpp"
#include "app/control/port_names.hpp"
#include "app/shortage.hpp"
#include "app/version.hpp"

namespace vmswitch {

namespace {

std::string names_of(const auto& list, auto name) {
  constexpr std::size_t most = 16;
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", name(list[i]));
  return list.empty() ? "none" : text + (list.size() > most ? ", ..." : "");
}

// Fills in the only network, or that of the port, and a port's stable name; the error is for the
// client.
result<void> find_source(capture_query& query, const daemon_snapshot& seen) {
  const auto& networks = seen.networks;
  const auto name_of_network = [](const network_snapshot& each) { return each.name; };
  if (query.network.empty() && networks.size() == 1)
    query.network = networks.front().name;
  if (query.network.empty() && !query.port.empty())
    if (const auto found = ports_named(seen, query.port, {}); found.size() == 1)
      query.network = found.front().network->name;
  if (query.network.empty())
    return fail(fmt::format("which network is to be captured? There are: {} (vmswitchctl: -n)",
                            names_of(networks, name_of_network)),
                400);
  const auto network = std::ranges::find(networks, query.network, &network_snapshot::name);
  if (network == networks.end())
    return fail(fmt::format("there is no network {}; there is: {}", query.network,
                            names_of(networks, name_of_network)),
                404);
  if (query.port.empty())
    return {};
  const auto found = ports_named(seen, query.port, query.network);
  if (found.empty())
    return fail(fmt::format("network {} has no port {}; it has: {}", query.network, query.port,
                            names_of(network->ports,
                                     [](const port_snapshot& each) {
                                       return each.brief.alias.empty()
                                                  ? each.brief.name
                                                  : fmt::format("{} ({})", each.brief.name,
                                                                each.brief.alias);
                                     })),
                404);
  query.port = found.front().port->brief.name;
  return {};
}

http_response refusal(const error& why) {
  return error_response(static_cast<unsigned>(why.code), why.text);
}

} // namespace

void capture_api::add_to(router& routes) {
  routes.add(
      "GET", "/v1/capture", control_role::full,
      [this](const http_request& request, const responder& answer) { handle(request, answer); });
}

void capture_api::handle(const http_request& request, const responder& answer) {
  auto query = parse_capture_query(request.query);
  if (!query)
    return answer(error_response(400, query.error().text));
  hooks_.inspect({.ports = true},
                 [this, query = std::move(*query), caller = to_string(request.caller),
                  answer](const std::shared_ptr<const daemon_snapshot>& seen) mutable {
                   if (const auto found = find_source(query, *seen); !found)
                     return answer(refusal(found.error()));
                   compile(std::move(query), std::move(caller), answer);
                 });
}

void capture_api::compile(capture_query query, std::string caller, const responder& answer) {
  if (query.filter.empty())
    return start(query, {}, caller, answer);
  if (compilations_ == most_compilations)
    return answer(error_response(503, "other filters are being compiled: try again"));
  ++compilations_;
  const auto compiled = [this, way = door_.get(), query = std::move(query),
                         caller = std::move(caller), answer] {
    way.post([this, filter = frame_filter::compile(query.filter), query, caller, answer] {
      --compilations_;
      if (filter)
        start(query, *filter, caller, answer);
      else
        answer(error_response(400, filter.error().text));
    });
  };
  try {
    // Nobody joins it: a name server may take longer to answer than the daemon to end.
    std::thread{compiled}.detach();
  } catch (const std::system_error& thrown) {
    --compilations_;
    answer(error_response(503, "the filter cannot be compiled: " + shortage(thrown).text));
  }
}

void capture_api::start(const capture_query& query, const frame_filter& filter,
                        const std::string& caller, const responder& answer) {
  const auto id = next_id_++;
  spdlog::info("capture {}: network {}, {}{} ({})", id, query.network,
               query.port.empty() ? "all ports" : "port " + query.port,
               query.filter.empty() ? "" : fmt::format(", filter \"{}\"", query.filter), caller);
  const auto session = std::make_shared<capture_session>(
      context_, answer,
      [&hooks = hooks_, id, network = query.network] { hooks.stop_capture(network, id); });
  auto channel = session->open(door_.get(), query.duration);
  capture_request request;
  request.id = id;
  request.application = fmt::format("vmswitchd {}", version());
  request.network = query.network;
  request.port = query.port;
  request.filter_text = query.filter;
  request.filter = filter;
  request.snaplen = query.snaplen;
  request.count = query.count;
  hooks_.start_capture(query.network,
                       std::make_shared<capture_tap>(std::move(request), std::move(channel)));
}

} // namespace vmswitch
