#include "app/control/http_types.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;

TEST_SUITE("request target") {

  TEST_CASE("path and query are taken apart and unescaped") {
    const auto target = parse_target("/v1/ports/lab%2e1?network=a%20b+c&&flag&x=1=2#fragment");
    REQUIRE(target);
    CHECK(target->path == "/v1/ports/lab.1");
    CHECK(target->query.at("network") == "a b c");
    CHECK(target->query.at("flag").empty());
    CHECK(target->query.at("x") == "1=2");
    CHECK(target->query.size() == 3);
  }

  TEST_CASE("what is no path of ours is refused") {
    for (const char* text :
         {"", "v1", "http://x/", "*", "/%", "/%4", "/%zz", "/%00", "/?a=%0", "/%-1"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_target(text));
    }
  }

  TEST_CASE("more parameters than anybody needs are refused") {
    std::string text = "/?";
    for (int i = 0; i < 40; ++i)
      text += "p" + std::to_string(i) + "=1&";
    CHECK_FALSE(parse_target(text));
  }

} // TEST_SUITE
