#include "app/control/http_door.hpp"

#include <cerrno>

#include <doctest/doctest.h>

#include "tests/support/resource_limit.hpp"

using namespace vmswitch;

TEST_SUITE("http door") {

  TEST_CASE("a port is bound on either loopback address, and the system chooses one") {
    for (const char* address : {"127.0.0.1", "::1"}) {
      CAPTURE(address);
      const auto opened = open_loopback_door({address, 0});
      if (!opened && (opened.error().code == EADDRNOTAVAIL || opened.error().code == EAFNOSUPPORT))
        continue; // a machine without IPv6
      REQUIRE(opened);
      CHECK(opened->bound.port != 0);
      CHECK(opened->door->name() == to_string(opened->bound));
      CHECK(opened->door->accept().status == accept_status::would_block);
    }
  }

  TEST_CASE("a dashboard is refused when descriptors are used up; it once ended the daemon") {
    const auto opened = [] {
      const test::resource_limit shortage{RLIMIT_NOFILE, 0};
      return open_loopback_door({"127.0.0.1", 0});
    }();
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == EMFILE);
    CHECK(opened.error().text.starts_with("cannot listen on 127.0.0.1:0"));
  }

} // TEST_SUITE
