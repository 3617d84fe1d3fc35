#include "app/control/control_path.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

TEST_SUITE("control_path") {

  TEST_CASE("where the control socket is follows from the user and the session") {
    CHECK(usual_control_path(0, nullptr, "/run/user/0") == "/run/vmswitch/control.sock");
    CHECK(usual_control_path(1000, nullptr, "/run/user/1000") ==
          "/run/user/1000/vmswitch/control.sock");
    CHECK(usual_control_path(1000, nullptr, nullptr) == "/tmp/vmswitch-1000/control.sock");
    CHECK(usual_control_path(1000, "", "") == "/tmp/vmswitch-1000/control.sock");
    CHECK(usual_control_path(0, "/x/y.sock", nullptr) == "/x/y.sock");
    CHECK(usual_control_path(0, "none", nullptr).empty());
  }

  TEST_CASE("its folder is made for its owner alone, and may be there") {
    const temporary_folder folder;
    const auto path = folder / "sub/control.sock";
    REQUIRE(make_control_folder(path, ::geteuid()));
    struct stat status {};
    REQUIRE(::stat((folder / "sub").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    CHECK(make_control_folder(path, ::geteuid()));
    CHECK_FALSE(make_control_folder(folder / "none/sub/control.sock", ::geteuid()));
  }

  TEST_CASE("a folder in /tmp that somebody else made, or can write to, is not trusted") {
    const temporary_folder folder; // in /tmp
    const auto path = folder / "sub/control.sock";
    REQUIRE(::mkdir((folder / "sub").c_str(), 0700) == 0);
    CHECK_FALSE(make_control_folder(path, ::geteuid() + 1));
    REQUIRE(::chmod((folder / "sub").c_str(), 0777) == 0);
    CHECK_FALSE(make_control_folder(path, ::geteuid()));
    REQUIRE(::rmdir((folder / "sub").c_str()) == 0);
    REQUIRE(::symlink("/root", (folder / "sub").c_str()) == 0);
    CHECK_FALSE(make_control_folder(path, ::geteuid()));
  }

} // TEST_SUITE
