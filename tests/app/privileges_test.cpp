#include "app/privileges.hpp"

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

using strings = std::vector<std::string>;

daemon_settings with_mode(host_mode mode) {
  daemon_settings settings;
  settings.user = "vmswitch";
  settings.networks.emplace_back().host.mode = mode;
  return settings;
}

} // namespace

TEST_SUITE("privileges") {

  TEST_CASE("a daemon that becomes a user keeps nothing but what removes its network devices") {
    for (const auto mode : {host_mode::user, host_mode::isolated})
      CHECK(privileges_for(with_mode(mode)).capabilities.empty());
    for (const auto mode : {host_mode::host, host_mode::shared, host_mode::bridged})
      CHECK(privileges_for(with_mode(mode)).capabilities == strings{"net_admin"});
  }

  TEST_CASE("one that stays root can still reach and give away its sockets") {
    auto settings = with_mode(host_mode::user);
    settings.user.reset();
    CHECK(privileges_for(settings).capabilities == strings{"chown", "dac_override", "fowner"});
  }

  TEST_CASE("a forward of a port below 1024 keeps the right to listen there") {
    auto settings = with_mode(host_mode::user);
    settings.networks[0].forwards = *parse_forward("1024 -> web");
    CHECK(privileges_for(settings).capabilities.empty());
    settings.networks[0].forwards = *parse_forward("1023 -> web");
    CHECK(privileges_for(settings).capabilities == strings{"net_bind_service"});
  }

  TEST_CASE(
      "the groups of sockets are kept, once each, since only members may give files to them") {
    auto settings = with_mode(host_mode::user);
    settings.networks[0].listeners = {{listen_type::stream, "/a", "kvm", {}},
                                      {listen_type::stream, "/b", {}, {}},
                                      {listen_type::dgram, "/c", "kvm", {}}};
    CHECK(privileges_for(settings).groups == strings{"kvm"});
  }

} // TEST_SUITE
