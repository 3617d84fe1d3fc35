#include "app/control/router.hpp"

#include <doctest/doctest.h>

#include "tests/app/control/answer_sink.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

struct bench {
  bench() {
    const auto echo = [](const http_request& request, const responder& answer) {
      std::string text = request.method + " " + request.path;
      for (const auto& [name, value] : request.captures)
        text.append(" ").append(name).append("=").append(value);
      answer({200, text});
    };
    routes.add("GET", "/v1/ports", control_role::read, echo);
    routes.add("GET", "/v1/ports/{port}", control_role::read, echo);
    routes.add("PUT", "/v1/ports/{port}", control_role::full, echo);
  }
  const http_response& ask(const std::string& method, const std::string& path,
                           control_role role = control_role::full) {
    http_request request;
    request.method = method;
    request.path = path;
    request.role = role;
    request.caller.uid = 1234;
    target->last = {0, {}};
    routes.handle(std::move(request), responder{target});
    return target->last;
  }
  router routes;
  std::shared_ptr<answer_sink> target = std::make_shared<answer_sink>();
};

} // namespace

TEST_SUITE("router") {

  TEST_CASE("a request goes to its route, with what stands in the path") {
    bench b;
    CHECK(b.ask("GET", "/v1/ports").body == "GET /v1/ports");
    CHECK(b.ask("GET", "/v1/ports/lab.1").body == "GET /v1/ports/lab.1 port=lab.1");
    CHECK(b.ask("PUT", "/v1/ports/x").body == "PUT /v1/ports/x port=x");
  }

  TEST_CASE("paths that are not there are 404, methods 405 with what is possible") {
    bench b;
    for (const char* path : {"/", "/v1", "/v1/port", "/v1/ports/a/b", "/v1/ports/", "/v2/ports"}) {
      CAPTURE(path);
      CHECK(b.ask("GET", path).status == 404);
    }
    const auto& refusal = b.ask("DELETE", "/v1/ports/x");
    CHECK(refusal.status == 405);
    REQUIRE(refusal.headers.size() == 1);
    CHECK(refusal.headers[0].second == "GET, PUT");
  }

  TEST_CASE("who may only read cannot change, and who may nothing sees nothing") {
    bench b;
    CHECK(b.ask("GET", "/v1/ports/x", control_role::read).status == 200);
    const auto refusal = b.ask("PUT", "/v1/ports/x", control_role::read);
    CHECK(refusal.status == 403);
    CHECK(refusal.body.find("uid 1234") != std::string::npos);
    CHECK(refusal.body.find("control_admins") != std::string::npos);
    for (const char* path : {"/v1/ports", "/nowhere"})
      CHECK(b.ask("GET", path, control_role::none).status == 403);
  }

} // TEST_SUITE
