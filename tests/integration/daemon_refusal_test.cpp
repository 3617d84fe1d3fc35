// When vmswitchd does not start: what it says, how it exits, and what it leaves alone.

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/daemon_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

// Who runs the daemon may do nothing in the folder but look.
void without_privileges() {
  if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
    ::_exit(99);
}

} // namespace

TEST_CASE("gtv#681: what stands at the socket's path and is no socket is never removed") {
  const daemon_lab lab;
  lab.folder.write("precious", "data");
  const auto at_path = [&](auto make) {
    std::filesystem::remove(lab.socket());
    make();
    const auto before = std::filesystem::symlink_status(lab.socket()).type();
    const auto ran = lab.run({"--vmnet-mode=isolated", "--pidfile", lab.pidfile(), lab.socket()});
    CHECK(ran.code == 73);
    CHECK(contains(ran.error, lab.socket()));
    CHECK(contains(ran.error, "not a socket"));
    CHECK(std::filesystem::symlink_status(lab.socket()).type() == before);
    CHECK(lab.folder.read("precious") == "data");
    CHECK_FALSE(lab.folder.has("pid"));
  };
  SUBCASE("a file") {
    at_path([&] { lab.folder.write("s", "data"); });
    CHECK(lab.folder.read("s") == "data");
  }
  SUBCASE("a link to a file") {
    at_path([&] { std::filesystem::create_symlink("precious", lab.socket()); });
  }
  SUBCASE("a link to nothing") {
    at_path([&] { std::filesystem::create_symlink("nowhere", lab.socket()); });
    CHECK_FALSE(lab.folder.has("nowhere"));
  }
  SUBCASE("a folder") {
    at_path([&] { std::filesystem::create_directory(lab.socket()); });
  }
  SUBCASE("a FIFO") {
    at_path([&] { ::mkfifo(lab.socket().c_str(), 0600); });
  }
}

TEST_CASE("a second daemon at the same socket fails and says why; the first one goes on") {
  const daemon_lab lab;
  auto first = lab.start();
  auto a = lab.connect();
  const auto ran = lab.run({"--vmnet-mode=isolated", lab.socket()});
  CHECK(ran.code == 73);
  CHECK(contains(ran.error, "another process is listening on " + lab.socket()));
  auto b = lab.connect();
  CHECK(hears(b, a));
  CHECK_FALSE(first.wait());
}

TEST_CASE("a second daemon with the same pidfile fails and names the first one, which goes on") {
  const daemon_lab lab;
  auto first = lab.start();
  const auto ran =
      lab.run({"--vmnet-mode=isolated", "--pidfile", lab.pidfile(), lab.folder / "other"});
  CHECK(ran.code == 73);
  CHECK(contains(ran.error, "process " + std::to_string(first.pid()) + " is running"));
  CHECK_FALSE(lab.folder.has("other"));
  CHECK(lab.folder.read("pid") == std::to_string(first.pid()) + "\n");
  auto a = lab.connect(), b = lab.connect();
  CHECK(hears(b, a));
}

TEST_CASE("sv#8: a group that does not exist is named, with what to do, and nothing is left") {
  const daemon_lab lab;
  const auto ran = lab.run({"--vmnet-mode=isolated", "--socket-group=vmswitch-no-such-group",
                            "--pidfile", lab.pidfile(), lab.socket()});
  CHECK(ran.code == 73);
  CHECK(contains(ran.error, "vmswitch-no-such-group"));
  CHECK(contains(ran.error, "groupadd"));
  CHECK(lab.folder.count() == 0);
}

TEST_CASE("where nothing may be created the exit code says: permission") {
  const daemon_lab lab;
  child_process::plan how;
  how.prepare = without_privileges;
  const auto file = lab.folder.write("readable", "");
  REQUIRE(::chmod(lab.folder.path().c_str(), 0555) == 0);
  if (const auto able = lab.run({"--version"}, how); able.code != 0) {
    MESSAGE("skipped: the program's folder is closed to other users");
    return;
  }
  SUBCASE("the socket") {
    const auto ran = lab.run({"--vmnet-mode=isolated", lab.socket()}, how);
    CHECK(ran.code == 77);
    CHECK(contains(ran.error, "no permission to create files in " + lab.folder.path()));
  }
  SUBCASE("the pidfile") {
    const temporary_folder open;
    ::chmod(open.path().c_str(), 0777);
    const auto ran =
        lab.run({"--vmnet-mode=isolated", "--pidfile", lab.pidfile(), open / "s"}, how);
    CHECK(ran.code == 77);
    CHECK(contains(ran.error, lab.pidfile()));
    CHECK(open.count() == 0);
  }
  ::chmod(lab.folder.path().c_str(), 0755);
}

TEST_CASE("ten mistakes in a configuration are ten lines with file and line, and exit code 78") {
  const daemon_lab lab;
  const auto file = lab.folder.write("vm.toml", "[daemon]\n"
                                                "log_level = \"loud\"\n" // 2
                                                "workers = 0\n"          // 3
                                                "colour = true\n"        // 4
                                                "[[network]]\n"
                                                "name = \"a b\"\n"    // 6
                                                "mode = \"bridge\"\n" // 7
                                                "mtu = 99\n"          // 8
                                                "[network.limits]\n"
                                                "ports = \"many\"\n" // 10
                                                "macs = -1\n"        // 11
                                                "[[network.listen]]\n"
                                                "type = \"tcp\"\n"  // 13
                                                "mode = \"0999\"\n" // 14
                                                "path = \"s\"\n");
  const auto ran = lab.run({"--config", file, "--pidfile", lab.pidfile()});
  CHECK(ran.code == 78);
  for (const int line : {2, 3, 4, 6, 7, 8, 10, 11, 13, 14}) {
    CAPTURE(line);
    CHECK(contains(ran.error, file + ":" + std::to_string(line) + ":"));
  }
  INFO(ran.error);
  CHECK(std::ranges::count(ran.error, '\n') == 10);
  CHECK(lab.folder.count() == 1);
}

TEST_CASE("--check prints what is in effect, which is a configuration again, and starts nothing") {
  const daemon_lab lab;
  const auto file = lab.folder.write("vm.toml", "[[network]]\nname = \"lab\"\nmtu = 9000\n"
                                                "[[network.listen]]\npath = \"from-file\"\n");
  const auto ran = lab.run({"--config", file, "--check", "--vmnet-mode=isolated", "--pidfile",
                            lab.pidfile(), "--workers=3", lab.socket()});
  CHECK(ran.code == 0);
  CHECK(ran.error.empty());
  CHECK(contains(ran.output, "workers = 3\n"));
  CHECK(contains(ran.output, "mode = \"isolated\"\n"));
  CHECK(contains(ran.output, "mtu = 9000\n"));
  CHECK(contains(ran.output, "path = \"" + lab.socket() + "\"\n"));
  CHECK_FALSE(contains(ran.output, "from-file"));
  CHECK(lab.folder.count() == 1);
  const auto again = lab.run({"--config", lab.folder.write("again.toml", ran.output), "--check"});
  CHECK(again.code == 0);
  CHECK(again.output == ran.output);
}

TEST_CASE("--check of a configuration with a mistake exits with 78 and prints none") {
  const daemon_lab lab;
  const auto ran = lab.run({"--config", lab.folder.write("vm.toml", "[[netwrk]]\n"), "--check"});
  CHECK(ran.code == 78);
  CHECK(contains(ran.error, "vm.toml:1:"));
  CHECK(ran.output.empty());
}

TEST_CASE("a wrong command line exits with 64, a file that is not there with 66") {
  const daemon_lab lab;
  for (const auto& wrong : {daemon_lab::words{},
                            {"--no-such-option", lab.socket()},
                            {"--workers=none", lab.socket()},
                            {lab.socket(), "one-too-many"}}) {
    const auto ran = lab.run(wrong);
    CHECK(ran.code == 64);
    CHECK(contains(ran.error, "--help"));
    CHECK(ran.output.empty());
  }
  const auto ran = lab.run({"--config", lab.folder / "missing.toml"});
  CHECK(ran.code == 66);
  CHECK(contains(ran.error, lab.folder / "missing.toml"));
  CHECK(lab.folder.count() == 0);
}
