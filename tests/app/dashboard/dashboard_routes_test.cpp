#include "app/dashboard/dashboard_routes.hpp"

#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/ctl/drop_advice.hpp"
#include "app/dashboard/dashboard_files.hpp"
#include "transport/frame/port_counters.hpp"

#include "tests/app/control/answer_sink.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

http_response ask(const std::string& path, const std::string& etag = {},
                  const std::string& set_cookie = {}) {
  router routes;
  add_dashboard(routes);
  http_request request;
  request.method = "GET";
  request.path = path;
  request.role = control_role::read;
  request.browser.if_none_match = etag;
  request.set_cookie = set_cookie;
  const auto target = std::make_shared<answer_sink>();
  routes.handle(std::move(request), responder{target});
  return target->last;
}

std::string header(const http_response& response, std::string_view name) {
  const auto found =
      std::ranges::find(response.headers, name, &std::pair<std::string, std::string>::first);
  return found == response.headers.end() ? std::string{} : found->second;
}

std::string_view content_of(std::string_view name) {
  const auto found = std::ranges::find(dashboard_files(), name, &dashboard_file::name);
  REQUIRE(found != dashboard_files().end());
  return found->content;
}

} // namespace

TEST_SUITE("dashboard") {

  TEST_CASE("the page and each of its files are served, and nothing else") {
    CHECK(ask("/").body == content_of("index.html"));
    for (const auto& file : dashboard_files()) {
      const auto answer = ask("/dashboard/" + std::string{file.name});
      CHECK(answer.status == 200);
      CHECK(answer.type == file.type);
      CHECK(answer.body == file.content);
    }
    CHECK(ask("/dashboard/../main.js").status == 404);
    CHECK(ask("/dashboard/").status == 404);
    CHECK(ask("/dashboard/none.js").status == 404);
  }

  TEST_CASE("what the page loads is there") {
    for (const auto& file : dashboard_files()) {
      auto text = file.content;
      const std::string_view mark = file.name == "index.html" ? "\"dashboard/" : "from \"./";
      if (file.name == "uplot.js")
        continue;
      for (auto at = text.find(mark); at != std::string_view::npos; at = text.find(mark)) {
        text.remove_prefix(at + mark.size());
        const auto name = text.substr(0, text.find('"'));
        CAPTURE(name);
        CHECK(ask("/dashboard/" + std::string{name}).status == 200);
      }
    }
  }

  TEST_CASE("it names no other server, and allows none") {
    const auto answer = ask("/");
    CHECK(header(answer, "Content-Security-Policy").starts_with("default-src 'none'"));
    CHECK(header(answer, "Content-Security-Policy").find("unsafe") == std::string::npos);
    CHECK(header(answer, "X-Content-Type-Options") == "nosniff");
    CHECK(header(answer, "Referrer-Policy") == "no-referrer");
    for (const auto& file : dashboard_files())
      if (!file.name.starts_with("uplot") && !file.name.ends_with(".svg") && file.name != "dom.js")
        CHECK_MESSAGE(file.content.find("://") == std::string_view::npos, std::string{file.name});
  }

  TEST_CASE("what a browser still has is not sent again") {
    const auto first = ask("/dashboard/main.js");
    const auto etag = header(first, "ETag");
    CHECK(etag.size() > 10);
    const auto again = ask("/dashboard/main.js", etag);
    CHECK(again.status == 304);
    CHECK(again.body.empty());
    CHECK(ask("/dashboard/main.js", "\"other\"").status == 200);
  }

  TEST_CASE("the cookie for who came with the token goes along") {
    CHECK(header(ask("/", {}, "a=b"), "Set-Cookie") == "a=b");
    CHECK(header(ask("/"), "Set-Cookie").empty());
  }

  TEST_CASE("the whole of it is small, and its licences are with it") {
    const auto files = dashboard_files();
    const auto size = std::accumulate(
        files.begin(), files.end(), std::size_t{0},
        [](std::size_t sum, const dashboard_file& file) { return sum + file.content.size(); });
    CHECK(size < 150'000);
    CHECK(content_of("uplot-license.txt").find("MIT") != std::string_view::npos);
  }

  TEST_CASE("it explains drops by the words of vmswitchctl") {
    for (std::size_t i = 0; i < drop_reason_count; ++i) {
      const auto name = std::string{to_string(static_cast<drop_reason>(i))};
      CAPTURE(name);
      CHECK(content_of("drops.js").find(fmt::format("  {}: \"{}\",\n", name, drop_advice(name))) !=
            std::string_view::npos);
    }
  }

} // TEST_SUITE
