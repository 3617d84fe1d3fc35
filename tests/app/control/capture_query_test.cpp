#include "app/control/capture_query.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;

TEST_SUITE("capture_query") {

  TEST_CASE("without parameters it is everything of the only network") {
    const auto query = parse_capture_query({});
    REQUIRE(query.has_value());
    CHECK(query->network.empty());
    CHECK(query->port.empty());
    CHECK(query->filter.empty());
    CHECK(query->snaplen == 262'144);
    CHECK(query->count == 0);
    CHECK(query->duration.count() == 0);
  }

  TEST_CASE("every parameter has its place") {
    const auto query = parse_capture_query({{"network", "lab"},
                                            {"port", "lab.3"},
                                            {"filter", "tcp port 80"},
                                            {"snaplen", "96"},
                                            {"count", "18446744073709551615"},
                                            {"duration", "60"}});
    REQUIRE(query.has_value());
    CHECK(query->network == "lab");
    CHECK(query->port == "lab.3");
    CHECK(query->filter == "tcp port 80");
    CHECK(query->snaplen == 96);
    CHECK(query->count == ~std::uint64_t{0});
    CHECK(query->duration == std::chrono::seconds{60});
  }

  TEST_CASE("numbers that are none, or out of range, are refused by name") {
    for (const auto& [name, value] : {std::pair{"snaplen", "13"},
                                      {"snaplen", "262145"},
                                      {"snaplen", ""},
                                      {"snaplen", "-1"},
                                      {"count", "0"},
                                      {"count", "1x"},
                                      {"count", "18446744073709551616"},
                                      {"duration", "0"},
                                      {"duration", "1.5"},
                                      {"duration", " 1"},
                                      {"duration", "99999999999"}}) {
      const auto query = parse_capture_query({{name, value}});
      REQUIRE_FALSE(query.has_value());
      CHECK(query.error().text.find(name) == 0);
    }
  }

  TEST_CASE("a misspelt filter is an error, and not a capture of everything") {
    CHECK_FALSE(parse_capture_query({{"filer", "arp"}}).has_value());
  }

} // TEST_SUITE
