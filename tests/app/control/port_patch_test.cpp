#include "app/control/port_patch.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

std::string refusal_of(const std::string& body) {
  const auto parsed = parse_port_patch(body);
  return parsed ? std::string{} : parsed.error().text;
}

} // namespace

TEST_SUITE("port_patch") {

  TEST_CASE("what is said is wanted, and what is left out stays") {
    const auto all = parse_port_patch(R"({"name": "Web-1_a.b", "isolated": true, "up": false})");
    REQUIRE(all);
    CHECK(all->alias == "Web-1_a.b");
    CHECK(all->isolated == true);
    CHECK(all->up == false);
    const auto one = parse_port_patch(R"({"up": true})");
    REQUIRE(one);
    CHECK_FALSE(one->alias);
    CHECK_FALSE(one->isolated);
    CHECK(one->up == true);
  }

  TEST_CASE("null and an empty text take the name away") {
    for (const char* body : {R"({"name": null})", R"({"name": ""})"}) {
      const auto parsed = parse_port_patch(body);
      REQUIRE(parsed);
      CHECK(parsed->alias == "");
    }
  }

  TEST_CASE("what is malformed is refused with what would be right") {
    for (const char* body : {"", "{}", "[]", "null", "{", "\xff", "7"}) {
      CAPTURE(body);
      CHECK(refusal_of(body).find(R"(as in {"name": "web")") != std::string::npos);
    }
    CHECK(refusal_of(R"({"isolated": 1})") == "isolated is true or false");
    CHECK(refusal_of(R"({"up": "yes"})") == "up is true or false");
    CHECK(refusal_of(R"({"name": 7})") == "name is a text, or null for none");
    CHECK(refusal_of(R"({"up": true, "down": true})").find("there are name, isolated and up") !=
          std::string::npos);
  }

  TEST_CASE("a name is short, of plain letters, and not like a port's own") {
    CHECK(refusal_of(R"({"name": ")" + std::string(32, 'x') + R"("})").empty());
    for (const auto& name : {std::string(33, 'x'), std::string{"a b"}, std::string{"a/b"},
                             std::string{"\xc3\xa4"}, std::string{"a\\u0000"}}) {
      CAPTURE(name);
      CHECK(refusal_of(R"({"name": ")" + name + R"("})").find("at most 32 letters") !=
            std::string::npos);
    }
    for (const char* name : {"host", "lab.3", "other.17", ".5", "a.b.0"}) {
      CAPTURE(name);
      CHECK(refusal_of(std::string{R"({"name": ")"} + name + R"("})").find("a port's own name") !=
            std::string::npos);
    }
    for (const char* name : {"host1", "lab.", "lab.3a", "3", "hosts.x"}) {
      CAPTURE(name);
      CHECK(refusal_of(std::string{R"({"name": ")"} + name + R"("})").empty());
    }
  }

} // TEST_SUITE
