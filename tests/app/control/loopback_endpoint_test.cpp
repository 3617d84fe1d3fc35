#include "app/control/loopback_endpoint.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;

TEST_SUITE("loopback endpoint") {

  TEST_CASE("address and port of this machine") {
    CHECK(parse_loopback_endpoint("127.0.0.1:8080") == loopback_endpoint{"127.0.0.1", 8080});
    CHECK(parse_loopback_endpoint("localhost:0") == loopback_endpoint{"127.0.0.1", 0});
    CHECK(parse_loopback_endpoint("127.9.9.9:65535") == loopback_endpoint{"127.9.9.9", 65535});
    CHECK(parse_loopback_endpoint("[::1]:80") == loopback_endpoint{"::1", 80});
    for (const char* text : {"127.0.0.1:8080", "[::1]:80"})
      CHECK(to_string(*parse_loopback_endpoint(text)) == text);
  }

  TEST_CASE("an address that others can reach is refused, and the way for them is told") {
    for (const char* text : {"0.0.0.0:8080", "192.168.1.2:8080", "[::]:8080", "[fe80::1]:1"}) {
      CAPTURE(text);
      const auto refused = parse_loopback_endpoint(text);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().text.find("ssh -L") != std::string::npos);
    }
  }

  TEST_CASE("anything else is no endpoint") {
    for (const char* text : {"", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                             "127.0.0.1:-1", "::1:80", "[::1]", "[127.0.0.1:80", "example.org:80",
                             "127.0.0.1:80x", "http://127.0.0.1:80"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_loopback_endpoint(text));
    }
  }

} // TEST_SUITE
