// openapi.json against the routes and their answers.

#include "app/control/openapi.hpp"

#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "actors/capture/capture_tap.hpp"
#include "app/control/capture_api.hpp"
#include "app/control/control_api.hpp"
#include "app/control/ports_api.hpp"
#include "app/control/reload_api.hpp"
#include "tests/app/control/answer_sink.hpp"
#include "tests/app/control/snapshots.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using nlohmann::json;

namespace {

// The API with a daemon behind it that always looks the same.
struct bench {
  bench() {
    hooks.inspect = [this](inspection_scope, auto done) {
      done(std::make_shared<const daemon_snapshot>(seen));
    };
    hooks.log_level_now = [this] { return level; };
    hooks.set_log_level = [this](log_level to) { level = to; };
    facts.connections = [] { return std::size_t{1}; };
    hooks.reload = [this](bool dry_run, auto done) {
      report.dry_run = dry_run;
      done(report);
    };
    add_control_api(routes, hooks, facts, events);
    hooks.order_forward = [](const forward_order& order) { order.done({}); };
    hooks.start_capture = [](const std::string&, const std::shared_ptr<capture_tap>& tap) {
      const capture_tap::port port{1, "lab.1"};
      tap->begin({&port, 1}, {});
      tap->end({}, {});
    };
    hooks.stop_capture = [](const std::string&, std::uint64_t) {};
    captures.add_to(routes);
    hooks.change_port = [](const std::string&, const change_port& wanted) {
      wanted.reply->answer({port_answer::what::done, {}});
    };
    ports.add_to(routes);
    add_metrics(routes, hooks, [] { return metrics_facts{}; });
  }
  http_response ask(const std::string& method, const std::string& path,
                    const std::string& body = {},
                    std::map<std::string, std::string, std::less<>> query = {}) {
    http_request request;
    request.query = std::move(query);
    request.method = method;
    request.path = path;
    request.body = body;
    request.role = control_role::full;
    request.caller.uid = 0;
    target->last = {0, {}};
    target->stream.reset();
    routes.handle(std::move(request), responder{target});
    context.restart();
    context.poll();
    return target->last;
  }

  daemon_snapshot seen = lab_snapshot();
  log_level level = log_level::info;
  reload_report report;
  control_hooks hooks;
  boost::asio::io_context context;
  capture_api captures{context, hooks};
  ports_api ports{context, hooks};
  control_facts facts;
  event_ring events;
  router routes;
  std::shared_ptr<answer_sink> target = std::make_shared<answer_sink>();
  const json document = json::parse(openapi_json());
};

// The part of JSON Schema that the document uses. What it does not describe is a mistake too.
class checker {
public:
  explicit checker(const json& document) : document_{document} {}

  void check(json schema, const json& value, const std::string& where) {
    CAPTURE(where);
    if (schema.contains("$ref"))
      schema = document_.at(json::json_pointer{schema["$ref"].get<std::string>().substr(1)});
    if (schema.contains("type"))
      CHECK_MESSAGE(has_type(schema["type"], value), where, " is ", value.dump());
    if (schema.contains("enum"))
      CHECK_MESSAGE(std::find(schema["enum"].begin(), schema["enum"].end(), value) !=
                        schema["enum"].end(),
                    where, " is ", value.dump());
    if (value.is_array() && schema.contains("items"))
      for (const auto& each : value)
        check(schema["items"], each, where + "[]");
    if (!value.is_object() ||
        !(schema.contains("properties") || schema.contains("additionalProperties")))
      return;
    for (const auto& key : schema.value("required", json::array()))
      CHECK_MESSAGE(value.contains(key.get<std::string>()), where, " lacks ", key.dump());
    for (const auto& [key, part] : value.items()) {
      const auto inside = fmt::format("{}.{}", where, key);
      if (schema.contains("properties") && schema["properties"].contains(key))
        check(schema["properties"][key], part, inside);
      else if (schema.contains("additionalProperties"))
        check(schema["additionalProperties"], part, inside);
      else
        CHECK_MESSAGE(false, inside, " is not documented");
    }
  }

private:
  static bool has_type(const json& type, const json& value) {
    if (type.is_array())
      return std::any_of(type.begin(), type.end(),
                         [&](const json& each) { return has_type(each, value); });
    const auto name = type.get<std::string>();
    return (name == "object" && value.is_object()) || (name == "array" && value.is_array()) ||
           (name == "string" && value.is_string()) || (name == "boolean" && value.is_boolean()) ||
           (name == "null" && value.is_null()) ||
           (name == "integer" && value.is_number_integer()) ||
           (name == "number" && value.is_number());
  }
  const json& document_;
};

const json& answer_schema(const json& document, const std::string& path, const std::string& method,
                          const std::string& status = "200") {
  return document.at("paths").at(path).at(method).at("responses").at(status).at("content");
}

} // namespace

TEST_SUITE("openapi") {

  TEST_CASE("every route is documented, and every documented path is a route") {
    bench b;
    std::set<std::string> routes, documented;
    for (const auto& route : b.routes.routes()) {
      auto method = route.method;
      std::transform(method.begin(), method.end(), method.begin(), ::tolower);
      routes.insert(method + " " + route.pattern);
    }
    std::set<std::string> names;
    for (const auto& [path, methods] : b.document["paths"].items())
      for (const auto& [method, operation] : methods.items()) {
        documented.insert(fmt::format("{} {}", method, path));
        CHECK(names.insert(operation.at("operationId")).second);
        CHECK_FALSE(operation.at("summary").get<std::string>().empty());
        CHECK(operation.contains("requestBody") ==
              (method == "put" || method == "post" || method == "patch"));
      }
    CHECK(routes == documented);
  }

  TEST_CASE("every answer is as the document says, and no more") {
    bench b;
    checker schema{b.document};
    for (const auto& each : b.document["paths"].items()) {
      const auto& path = each.key();
      const auto& methods = each.value();
      if (!methods.contains("get"))
        continue;
      CAPTURE(path);
      auto asked = path;
      for (const auto& [name, value] : {std::pair{"{network}", "lab"}, {"{port}", "lab.1"}})
        if (const auto at = asked.find(name); at != std::string::npos)
          asked.replace(at, std::string_view{name}.size(), value);
      const auto answer = b.ask("GET", asked);
      const auto& content = answer_schema(b.document, path, "get");
      if (b.target->stream) {
        CHECK(content.contains(std::string{b.target->stream->type()}));
        continue;
      }
      CHECK(answer.status == 200);
      const auto type = answer.type.substr(0, answer.type.find(';'));
      REQUIRE(content.contains(type));
      if (type == "application/json")
        schema.check(content[type]["schema"], json::parse(answer.body), asked);
    }
  }

  TEST_CASE("refusals are as the document says") {
    bench b;
    checker schema{b.document};
    for (const char* path : {"/v1/networks/none", "/v1/ports/none", "/nowhere"}) {
      const auto answer = b.ask("GET", path);
      CHECK(answer.status == 404);
      schema.check({{"$ref", "#/components/schemas/Error"}}, json::parse(answer.body), path);
    }
    CHECK(b.ask("PUT", "/v1/log", R"({"level":"warn"})").status == 200);
    CHECK(b.level == log_level::warn);
    CHECK(b.ask("PUT", "/v1/log", "nonsense").status == 400);
  }

  TEST_CASE("a reload is answered as the document says, and a broken file is refused") {
    bench b;
    checker schema{b.document};
    b.report.steps = {{"network a: add it", {}}, {"network b: add it", "it hangs"}};
    b.report.held = {{"workers 1 -> 2", "it is set up once"}};
    const auto& content = answer_schema(b.document, "/v1/reload", "post");
    for (const char* body : {"", "{}", R"({"dry_run":true})"}) {
      const auto answer = b.ask("POST", "/v1/reload", body);
      CHECK(answer.status == 200);
      schema.check(content["application/json"]["schema"], json::parse(answer.body), "reload");
      CHECK(b.report.dry_run == (std::string_view{body}.size() > 2));
    }
    CHECK(b.ask("POST", "/v1/reload", R"({"dry_run":1})").status == 400);
    CHECK(b.ask("POST", "/v1/reload", "nonsense").status == 400);
    b.report = {};
    b.report.errors = {"vm.toml:1:1: one", "vm.toml:2:1: two"};
    const auto refused = b.ask("POST", "/v1/reload");
    CHECK(refused.status == 422);
    CHECK(json::parse(refused.body)["error"] == "vm.toml:1:1: one\nvm.toml:2:1: two");
  }

  TEST_CASE("a forward is begun and ended as the document says") {
    bench b;
    checker schema{b.document};
    const auto content = [&](const char* method, const char* status) {
      return answer_schema(b.document, "/v1/forwards", method, status)["application/json"];
    };
    const auto made = b.ask("POST", "/v1/forwards", R"({"listen_port":80,"to":"web"})");
    CHECK(made.status == 201);
    schema.check(content("post", "201")["schema"], json::parse(made.body), "added");
    const auto removed = b.ask("DELETE", "/v1/forwards", {}, {{"listen", "2222"}});
    CHECK(removed.status == 200);
    schema.check(content("delete", "200")["schema"], json::parse(removed.body), "removed");
    CHECK(b.ask("DELETE", "/v1/forwards", {}, {{"listen", "80"}}).status == 404);
  }

  TEST_CASE("a port that was changed is answered as the document says") {
    bench b;
    const auto answer = b.ask("PATCH", "/v1/ports/lab.1", R"({"name": "web"})");
    CHECK(answer.status == 200);
    const auto& content = answer_schema(b.document, "/v1/ports/{port}", "patch");
    checker{b.document}.check(content["application/json"]["schema"], json::parse(answer.body),
                              "port");
    CHECK(b.ask("PATCH", "/v1/ports/lab.9", R"({"name": "web"})").status == 404);
  }

  TEST_CASE("events are of documented types") {
    bench b;
    b.ask("PUT", "/v1/log", R"({"level":"warn"})");
    std::string text;
    b.events.read(0, text);
    const auto data = text.substr(text.find("data: ") + 6);
    checker{b.document}.check({{"$ref", "#/components/schemas/Event"}}, json::parse(data), "event");
  }

} // TEST_SUITE
