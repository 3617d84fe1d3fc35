#include "app/control/ports_api.hpp"

#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/app/control/answer_sink.hpp"
#include "tests/app/control/snapshots.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// The API, whose networks answer as they are told to.
struct bench {
  bench() {
    hooks.inspect = [this](inspection_scope, auto done) {
      done(std::make_shared<const daemon_snapshot>(seen));
    };
    hooks.change_port = [this](const std::string& network, change_port wanted) {
      asked_of = network;
      asked = std::move(wanted);
      if (tells)
        asked.reply->answer(*tells);
      asked.reply.reset();
    };
    api.add_to(routes);
  }
  unsigned patch(const std::string& port, const std::string& body,
                 control_role role = control_role::full, const std::string& network = {}) {
    http_request request;
    request.method = "PATCH";
    request.path = "/v1/ports/" + port;
    request.body = body;
    request.role = role;
    request.caller.uid = 1000;
    if (!network.empty())
      request.query.emplace("network", network);
    target->last = {0, {}};
    routes.handle(std::move(request), responder{target});
    context.restart();
    context.poll();
    return target->last.status;
  }
  std::string said() const { return target->last.body; }

  daemon_snapshot seen = lab_snapshot();
  std::optional<port_answer> tells = port_answer{port_answer::what::done, {}};
  std::string asked_of;
  change_port asked;
  control_hooks hooks;
  boost::asio::io_context context;
  ports_api api{context, hooks};
  router routes;
  std::shared_ptr<answer_sink> target = std::make_shared<answer_sink>();
};

} // namespace

TEST_SUITE("ports_api") {

  TEST_CASE("a change goes to the port's network under its stable name, and the port is answered") {
    bench b;
    b.seen.networks[0].ports[1].brief.alias = "web";
    CHECK(b.patch("web", R"({"isolated": true})") == 200);
    CHECK(b.asked_of == "lab");
    CHECK(b.asked.port == "lab.1");
    CHECK(b.asked.by == "uid 1000");
    CHECK(b.asked.change.isolated == true);
    const auto port = nlohmann::json::parse(b.said());
    CHECK(port["name"] == "lab.1");
    CHECK(port["alias"] == "web");
  }

  TEST_CASE("the host can be set down, but not isolated") {
    bench b;
    CHECK(b.patch("host", R"({"up": false, "isolated": false})") == 200);
    CHECK(b.asked.port == "host");
    CHECK(b.patch("host", R"({"isolated": true})") == 400);
    CHECK(b.said().find("not for the host") != std::string::npos);
  }

  TEST_CASE("each refusal has its status and its reason") {
    bench b;
    CHECK(b.patch("lab.1", "nonsense") == 400);
    CHECK(b.patch("lab.1", R"({"up": true})", control_role::read) == 403);
    CHECK(b.patch("lab.9", R"({"up": true})") == 404);
    CHECK(b.patch("lab.1", R"({"up": true})", control_role::full, "desk") == 404);
    CHECK(b.asked_of.empty()); // nobody was asked
    b.tells = {port_answer::what::name_taken, "port lab.2 has the name web"};
    CHECK(b.patch("lab.1", R"({"name": "web"})") == 409);
    CHECK(b.said().find("lab.2 has the name") != std::string::npos);
    b.tells = {port_answer::what::no_port, "gone"};
    CHECK(b.patch("lab.1", R"({"name": "web"})") == 404);
  }

  TEST_CASE("which of several hosts is meant has to be said") {
    bench b;
    b.seen.networks.push_back(b.seen.networks[0]);
    b.seen.networks[1].name = "desk";
    CHECK(b.patch("host", R"({"up": false})") == 400);
    CHECK(b.said().find("?network=lab") != std::string::npos);
    CHECK(b.patch("host", R"({"up": false})", control_role::full, "desk") == 200);
    CHECK(b.asked_of == "desk");
  }

  TEST_CASE("a network that goes without an answer has none of its ports any more") {
    bench b;
    b.tells.reset();
    CHECK(b.patch("lab.1", R"({"up": false})") == 404);
  }

} // TEST_SUITE
