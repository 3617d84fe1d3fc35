#include "app/control/web_guard.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

http_request request_of(browser_headers browser, std::string method = "GET",
                        std::string path = "/v1/ports") {
  http_request request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.browser = std::move(browser);
  return request;
}

bool is_refused(browser_headers browser, std::string method = "GET",
                std::string path = "/v1/ports") {
  const auto refusal =
      refuse_foreign(request_of(std::move(browser), std::move(method), std::move(path)));
  return refusal && refusal->status == 403;
}

} // namespace

TEST_SUITE("web guard") {

  TEST_CASE("a host is an address, localhost or a short name, with or without a port") {
    for (const char* host : {"", "localhost", "localhost:8080", "127.0.0.1", "127.0.0.1:8080",
                             "[::1]", "[::1]:8080", "vmswitch", "lab.localhost:80"}) {
      CAPTURE(host);
      CHECK(is_plain_host(host));
    }
  }

  TEST_CASE("DNS rebinding: a name that somebody else's resolver answers for is refused") {
    for (const char* host : {"evil.example", "evil.example:8080", "127.0.0.1.evil.example",
                             "localhost.evil.example:80", "localhost.", "1.2.3.4x"}) {
      CAPTURE(host);
      CHECK_FALSE(is_plain_host(host));
      CHECK(is_refused({.host = host}));
    }
  }

  TEST_CASE("another page, or another port of this machine, may not send requests") {
    CHECK_FALSE(is_refused({.host = "127.0.0.1:8080", .origin = "http://127.0.0.1:8080"}, "POST"));
    CHECK_FALSE(is_refused({.host = "localhost"}, "PUT")); // curl
    CHECK(is_refused({.host = "127.0.0.1:8080", .origin = "http://evil.example"}, "POST"));
    CHECK(is_refused({.host = "127.0.0.1:8080", .origin = "http://127.0.0.1:9999"}, "POST"));
    CHECK(is_refused({.host = "127.0.0.1:8080", .origin = "null"}));
    CHECK(is_refused({.host = "127.0.0.1:8080", .fetch_site = "cross-site"}, "POST"));
    CHECK(is_refused({.host = "127.0.0.1:8080", .fetch_site = "same-site"}, "DELETE"));
    CHECK_FALSE(is_refused({.host = "127.0.0.1:8080", .fetch_site = "same-origin"}, "POST"));
  }

  TEST_CASE("another page may have a link to ours, but not start a capture by an image or a link") {
    for (const char* site : {"cross-site", "same-site"}) {
      CAPTURE(site);
      const auto refused = [&](const char* mode, const char* path) {
        return is_refused({.host = "localhost:8080", .fetch_site = site, .fetch_mode = mode}, "GET",
                          path);
      };
      CHECK_FALSE(refused("navigate", "/"));
      CHECK(refused("no-cors", "/"));
      CHECK(refused("", "/"));
      for (const char* path : {"/v1/capture", "/v1/events", "/v1/ports", "/metrics"}) {
        CAPTURE(path);
        CHECK(refused("navigate", path));
        CHECK(refused("no-cors", path));
        CHECK(refused("cors", path));
      }
    }
    for (const char* site : {"same-origin", "none", ""}) { // ours, a person's own, curl's
      CAPTURE(site);
      CHECK_FALSE(is_refused({.host = "localhost", .fetch_site = site, .fetch_mode = "no-cors"},
                             "GET", "/v1/capture"));
    }
  }

  TEST_CASE("tokens are long, and no two are the same") {
    const auto one = make_token(), other = make_token();
    CHECK(one.size() == 32);
    CHECK(one.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(one != other);
  }

  TEST_CASE("secrets are the same or they are not") {
    CHECK(is_same_secret("abc", "abc"));
    for (const char* other : {"", "ab", "abd", "xbc", "abcd"})
      CHECK_FALSE(is_same_secret(other, "abc"));
  }

  TEST_CASE("the token lets in as a parameter, and from then on as a cookie of this port") {
    const token_guard guard{"0123456789abcdef", 8080};
    auto first = request_of({}, "GET", "/");
    first.query["token"] = guard.token();
    CHECK_FALSE(guard.refuse(first));
    const auto cookie = guard.cookie_for(first);
    REQUIRE(cookie);
    CHECK(*cookie == "vmswitch_8080=0123456789abcdef; Path=/; HttpOnly; SameSite=Strict");
    const auto later = request_of({.cookie = "a=b; vmswitch_8080=0123456789abcdef; c=d"});
    CHECK_FALSE(guard.refuse(later));
    CHECK_FALSE(guard.cookie_for(later));
  }

  TEST_CASE("without the token, or with another, nothing is to be had") {
    const token_guard guard{"0123456789abcdef", 8080};
    for (const char* cookie :
         {"", "vmswitch_8080=", "vmswitch_8080", "vmswitch_8080=0123456789abcdeF",
          "vmswitch_80=0123456789abcdef", "xvmswitch_8080=0123456789abcdef",
          "a=vmswitch_8080=0123456789abcdef", ";;; ;"}) {
      CAPTURE(cookie);
      const auto refusal = guard.refuse(request_of({.cookie = cookie}));
      REQUIRE(refusal);
      CHECK(refusal->status == 401);
    }
    auto wrong = request_of({.cookie = "vmswitch_8080=0123456789abcdef"});
    wrong.query.insert_or_assign("token", std::string{"0"});
    CHECK(guard.refuse(wrong));
    const auto page = guard.refuse(request_of({}, "GET", "/"));
    REQUIRE(page);
    CHECK(page->type.starts_with("text/plain")); // for a person
  }

} // TEST_SUITE
