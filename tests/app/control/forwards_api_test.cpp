#include "app/control/forwards_api.hpp"

#include <cerrno>
#include <optional>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/app/control/snapshots.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using nlohmann::json;

namespace {

struct sink final : responder::target {
  void answer(http_response response) override { last = std::move(response); }
  void answer(std::unique_ptr<stream_source>) override {}
  std::optional<http_response> last;
};

// The routes with a daemon behind them that does what it is told, or refuses with `refusal`.
struct bench {
  bench() {
    hooks.inspect = [this](inspection_scope, auto done) {
      done(std::make_shared<const daemon_snapshot>(seen));
    };
    hooks.order_forward = [this](forward_order order) {
      orders.push_back(order);
      if (refusal)
        return order.done(tl::unexpected{*refusal});
      if (const auto* rule = std::get_if<forward_rule>(&order.what))
        seen.networks[0].services.forwards.push_back({*rule, {}, {}, order.by});
      order.done({});
    };
    add_forward_changes(routes, hooks);
  }
  http_response ask(http_request request) {
    request.path = "/v1/forwards";
    request.caller.pid = 4711;
    request.caller.uid = 1000;
    target->last.reset();
    routes.handle(std::move(request), responder{target});
    REQUIRE(target->last);
    return *target->last;
  }
  http_response add(const char* body, control_role role = control_role::full) {
    http_request request;
    request.method = "POST";
    request.body = body;
    request.role = role;
    return ask(std::move(request));
  }
  http_response remove(std::map<std::string, std::string, std::less<>> query,
                       control_role role = control_role::full) {
    http_request request;
    request.method = "DELETE";
    request.query = std::move(query);
    request.role = role;
    return ask(std::move(request));
  }
  void add_network(const char* name) { seen.networks.emplace_back().name = name; }

  daemon_snapshot seen = lab_snapshot();
  std::optional<error> refusal;
  std::vector<forward_order> orders;
  control_hooks hooks;
  router routes;
  std::shared_ptr<sink> target = std::make_shared<sink>();
};

bool has(const http_response& answer, std::string_view part) {
  return answer.body.find(part) != std::string::npos;
}

} // namespace

TEST_SUITE("forwards_api") {

  TEST_CASE("a forward is ordered in the name of who asks, and answered as it is then") {
    bench b;
    const auto made = b.add(R"({"rule":"8080 -> web:80"})");
    CHECK(made.status == 201);
    const auto body = json::parse(made.body);
    CHECK(body["rule"] == "tcp 127.0.0.1:8080 -> web:80");
    CHECK(body["origin"] == "live");
    CHECK(body["address"].is_null());
    REQUIRE(b.orders.size() == 1);
    CHECK(b.orders[0].network == "lab");
    CHECK(b.orders[0].by == "pid 4711, uid 1000");
  }

  TEST_CASE("who may only look orders nothing") {
    bench b;
    CHECK(b.add(R"({"rule":"8080 -> web:80"})", control_role::read).status == 403);
    CHECK(b.remove({{"listen", "2222"}}, control_role::read).status == 403);
    CHECK(b.orders.empty());
  }

  TEST_CASE("a request that is not understood orders nothing") {
    bench b;
    CHECK(b.add("nonsense").status == 400);
    CHECK(b.remove({}).status == 400);
    CHECK(b.orders.empty());
  }

  TEST_CASE("of several networks one has to be named, and has to be there") {
    bench b;
    CHECK(b.add(R"({"rule":"8080 -> web:80","network":"none"})").status == 404);
    b.add_network("other");
    const auto which = b.add(R"({"rule":"8080 -> web:80"})");
    CHECK(which.status == 400);
    CHECK(has(which, "lab, other"));
    CHECK(b.orders.empty());
    CHECK(b.add(R"({"rule":"8080 -> web:80","network":"other"})").status == 201);
    CHECK(b.orders.at(0).network == "other");
  }

  TEST_CASE("a forward is removed from the network that has it") {
    bench b;
    b.add_network("other");
    const auto removed = b.remove({{"listen", "2222"}});
    CHECK(removed.status == 200);
    CHECK(json::parse(removed.body) ==
          json::parse(R"({"network":"lab","removed":"tcp 127.0.0.1:2222"})"));
    CHECK(b.orders.at(0).network == "lab");
    CHECK(std::get<forward_listen>(b.orders[0].what).port == 2222);
    CHECK(b.remove({{"listen", "2223"}}).status == 404);
    CHECK(b.remove({{"listen", "2222"}, {"network", "none"}}).status == 404);
    CHECK(b.orders.size() == 1);
  }

  TEST_CASE("what a network says is the answer, with a status that fits") {
    bench b;
    for (const auto& each : {std::pair{EINVAL, 400U},
                             {EADDRINUSE, 409U},
                             {EACCES, 409U},
                             {0, 409U},
                             {ENOENT, 404U},
                             {ENXIO, 404U},
                             {ETIMEDOUT, 504U},
                             {ECANCELED, 503U}}) {
      b.refusal = error{"the reason", each.first};
      const auto refused = b.add(R"({"rule":"8080 -> web:80"})");
      CHECK(refused.status == each.second);
      CHECK(has(refused, "the reason"));
      CHECK(b.remove({{"listen", "2222"}}).status == each.second);
    }
  }

} // TEST_SUITE
