#include <doctest/doctest.h>

#include "app/render_config.hpp"
#include "tests/app/config_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using strings = std::vector<std::string>;

namespace {

std::string daemon_with(const std::string& lines) {
  return "[daemon]\n" + lines + "\n" + network_with("");
}

} // namespace

TEST_SUITE("control section") {

  TEST_CASE("every setting of the control socket arrives, and is printed as it was written") {
    const auto settings = parsed(daemon_with(R"(control = "c.sock"
control_group = "kvm"
control_mode = "0666"
control_admins = ["alice", "@ops"]
control_readers = [])"),
                                 "/etc/vm/t.toml");
    CHECK(settings.control.path == "/etc/vm/c.sock");
    CHECK(settings.control.group == "kvm");
    CHECK(settings.control.mode == 0666);
    CHECK(settings.control.admins == strings{"alice", "@ops"});
    REQUIRE(settings.control.readers);
    CHECK(settings.control.readers->empty());
    const auto again = parsed(render_config(settings));
    CHECK(again.control.path == settings.control.path);
    CHECK(again.control.group == settings.control.group);
    CHECK(again.control.mode == settings.control.mode);
    CHECK(again.control.admins == settings.control.admins);
    CHECK(again.control.readers == settings.control.readers);
  }

  TEST_CASE("without a word the usual socket is meant; an empty path or \"none\" is none") {
    CHECK_FALSE(parsed(daemon_with("")).control.path);
    CHECK(parsed(daemon_with("control = \"\"")).control.path == "");
    CHECK(parsed(daemon_with("control = \"none\"")).control.path == "");
  }

  TEST_CASE("mistakes are named with their place") {
    CHECK(places(daemon_with("control = 7")) == strings{"2:11 daemon.control"});
    CHECK(places(daemon_with("control = \"/run/a.sock\"")) == strings{"6:8 network.listen.path"});
    CHECK(places(daemon_with("control = \"/" + std::string(200, 'x') + "\"")) ==
          strings{"2:11 daemon.control"});
    CHECK(places(daemon_with("control_admins = [\"@\", \"a:b\"]")).size() == 2);
    CHECK(places(daemon_with("control_mode = \"9\"")) == strings{"2:16 daemon.control_mode"});
  }

} // TEST_SUITE
