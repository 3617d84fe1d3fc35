// In place of socket_vmnet: our programs under its names, and used as its users do.

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/daemon_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

child_process start(daemon_lab::words command, child_process::plan how = {}) {
  how.command = std::move(command);
  how.command[0] = VMSWITCH_BIN_DIR "/" + how.command[0];
  auto started = child_process::start(how);
  REQUIRE(started);
  return std::move(*started);
}

bool runs(const std::string& command) {
  return std::system(command.c_str()) == 0;
}

} // namespace

TEST_CASE("the names of socket_vmnet lead to our programs") {
  for (const auto& pair :
       {std::pair{"socket_vmnet", "vmswitchd"}, std::pair{"socket_vmnet_client", "vmswitch-run"}}) {
    const auto* link = pair.first;
    const auto* program = pair.second;
    CAPTURE(link);
    const std::filesystem::path path{std::string{VMSWITCH_BIN_DIR "/"} + link};
    REQUIRE(std::filesystem::is_symlink(path));
    CHECK(std::filesystem::read_symlink(path) == program); // relative: it can be moved
    auto help = start({link, "--help"});
    CHECK(help.wait(soon()) == 0);
    CHECK(contains(help.output(), "Usage: " + std::string{link} + " ["));
  }
}

TEST_CASE("started as Lima and Colima do, found and stopped by its pidfile") {
  if (!runs("command -v pkill >/dev/null")) {
    MESSAGE("skipped: pkill is missing");
    return;
  }
  const daemon_lab lab;
  const auto pidfile = lab.pidfile(), socket = lab.socket();
  const daemon_lab::words lima{"socket_vmnet",
                               "--pidfile=" + pidfile,
                               "--vmnet-mode=user",
                               "--vmnet-gateway=192.168.105.1",
                               "--vmnet-dhcp-end=192.168.105.254",
                               "--vmnet-mask=255.255.255.0",
                               socket};
  const daemon_lab::words colima{
      "socket_vmnet",     "--vmnet-mode",    "user",      "--vmnet-gateway", "192.168.106.1",
      "--vmnet-dhcp-end", "192.168.106.254", "--pidfile", pidfile,           socket};
  for (const auto& command : {lima, colima}) {
    auto daemon = start(command);
    lab.await_ready(daemon);
    CHECK(runs("pkill -0 -F " + pidfile));
    auto a = lab.connect(), b = lab.connect();
    CHECK(hears(b, a));
    CHECK(runs("pkill -F " + pidfile));
    CHECK(daemon.wait(soon()) == 0);
    CHECK(lab.folder.count() == 0);
  }
}

TEST_CASE("who only looks whether it is alive, by connect and close, makes no line in the log") {
  const daemon_lab lab;
  auto daemon = lab.start();
  const auto before = daemon.error_output();
  for (int i = 0; i < 100; ++i)
    lab.connect();
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  daemon.signal(SIGTERM);
  REQUIRE(daemon.wait(soon()) == 0);
  const auto said = daemon.error_output().substr(before.size());
  INFO(said);
  CHECK_FALSE(contains(said, " warn "));
  CHECK_FALSE(contains(said, " error "));
  CHECK_FALSE(contains(said, "port default.1 ")); // the first of those that only looked
}

TEST_CASE("without a mode it is shared; without privilege it says that mode user needs none") {
  if (!std::filesystem::exists("/dev/net/tun")) {
    MESSAGE("skipped: there is no /dev/net/tun");
    return;
  }
  const daemon_lab lab;
  ::chmod(lab.folder.path().c_str(), 0777);
  child_process::plan how;
  how.prepare = [] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
      ::_exit(99);
  };
  auto able = start({"socket_vmnet", "--version"}, how);
  if (able.wait(soon()) != 0) {
    MESSAGE("skipped: the program's folder is closed to other users");
    return;
  }
  auto daemon = start({"socket_vmnet", "--pidfile=" + lab.pidfile(), lab.socket()}, how);
  CHECK(daemon.wait(soon()) == 77);
  CHECK(contains(daemon.error_output(), "--vmnet-mode=user "));
  CHECK(lab.folder.count() == 0);
}

TEST_CASE("minikube's client: the VM finds the network at descriptor 3") {
  const daemon_lab lab;
  auto daemon = lab.start();
  auto vm = start({"socket_vmnet_client", lab.socket(), "sh", "-c", "test -S /dev/fd/3"});
  CHECK(vm.wait(soon()) == 0);
  auto failed = start({"socket_vmnet_client", lab.folder / "nothing", "true"});
  CHECK(failed.wait(soon()) == 69);
  CHECK(contains(failed.error_output(), "socket_vmnet_client: "));
}
