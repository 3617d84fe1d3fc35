#include "app/control/access.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/owned_fd.hpp"

using namespace vmswitch;

namespace {

control_caller caller(uid_t uid, std::vector<gid_t> groups = {}) {
  return {4711, uid, std::move(groups)};
}

} // namespace

TEST_SUITE("access") {

  TEST_CASE("root, the daemon's user and admins may do everything, others look") {
    access_rules rules;
    rules.own = 1000;
    rules.admins = {{1001}, {50}};
    CHECK(role_of(rules, caller(0)) == control_role::full);
    CHECK(role_of(rules, caller(1000)) == control_role::full);
    CHECK(role_of(rules, caller(1001)) == control_role::full);
    CHECK(role_of(rules, caller(1002, {7, 50})) == control_role::full);
    CHECK(role_of(rules, caller(1002, {7})) == control_role::read);
    CHECK(role_of(rules, {}) == control_role::none); // the system does not say who it is
  }

  TEST_CASE("with a list of readers nobody else looks") {
    access_rules rules;
    rules.own = 1000;
    rules.readers = access_rules::members{{1002}, {60}};
    CHECK(role_of(rules, caller(1000)) == control_role::full);
    CHECK(role_of(rules, caller(1002)) == control_role::read);
    CHECK(role_of(rules, caller(1003, {60})) == control_role::read);
    CHECK(role_of(rules, caller(1003, {61})) == control_role::none);
    rules.readers = access_rules::members{};
    CHECK(role_of(rules, caller(1002)) == control_role::none);
  }

  TEST_CASE("names are looked up, and one that does not exist is named") {
    control_settings settings;
    settings.admins = {"root", "@root"};
    const auto rules = resolve_access(settings);
    REQUIRE(rules);
    CHECK(rules->admins.users == std::vector<uid_t>{0});
    CHECK(rules->admins.groups == std::vector<gid_t>{0});
    CHECK_FALSE(rules->readers);
    settings.readers = {{"@no-such-group"}};
    const auto missing = resolve_access(settings);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().text == "control_readers: there is no group named no-such-group");
    settings.admins = {"no-such-user"};
    CHECK(resolve_access(settings).error().text ==
          "control_admins: there is no user named no-such-user");
  }

  TEST_CASE("the kernel says who is at the other end") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const owned_fd one{ends[0]}, other{ends[1]};
    const auto who = identify_caller(one.get());
    CHECK(who.pid == ::getpid());
    CHECK(who.uid == ::getuid());
    CHECK(std::find(who.groups.begin(), who.groups.end(), ::getgid()) != who.groups.end());
    CHECK_FALSE(identify_caller(-1).uid);
  }

} // TEST_SUITE
