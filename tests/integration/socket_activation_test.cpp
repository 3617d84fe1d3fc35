// vmswitchd on sockets that a service manager has opened.

#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <sys/socket.h>

#include "tests/integration/service_manager.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

void end(child_process& daemon) {
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(soon()) == 0);
}

} // namespace

TEST_CASE("a VM connects before the daemon runs, and again after a restart: the socket stays") {
  const daemon_lab lab;
  const service_manager service{lab.socket(), SOCK_STREAM};
  const auto before = service.file();
  for (int round = 0; round < 2; ++round) {
    auto early = lab.connect();
    auto daemon = service.start({"--vmnet-mode=isolated", "--pidfile=" + lab.pidfile(),
                                 "--socket-mode=0666", lab.socket()});
    lab.await_ready(daemon);
    auto late = lab.connect();
    CHECK(hears(late, early));
    end(daemon);
    CHECK(service.file().st_ino == before.st_ino);
    CHECK(service.file().st_mode == before.st_mode);
    CHECK(service.file().st_gid == before.st_gid);
  }
}

TEST_CASE("datagram VMs use a passed socket, which keeps its place") {
  const daemon_lab lab;
  const service_manager service{lab.socket(), SOCK_DGRAM};
  const auto before = service.file();
  const auto config = lab.folder.write("vm.toml", "[[network]]\nmode = \"isolated\"\n"
                                                  "[[network.listen]]\ntype = \"dgram\"\n"
                                                  "path = \"s\"\n");
  auto daemon = service.start({"--config", config, "--pidfile=" + lab.pidfile()});
  lab.await_ready(daemon);
  auto a = frame_socket::datagram(lab.folder / "a", lab.socket());
  auto b = frame_socket::datagram(lab.folder / "b", lab.socket());
  auto c = frame_socket::datagram(lab.folder / "c", lab.socket());
  REQUIRE((a && b && c));
  REQUIRE(b->send(tagged_frame(broadcast_mac, vm_mac(2), 1), soon()));
  CHECK(hears(*b, *a));
  REQUIRE(c->send(tagged_frame(broadcast_mac, vm_mac(3), 1), soon()));
  CHECK(hears(*c, *a));
  CHECK(service.file().st_ino == before.st_ino);
  end(daemon);
  CHECK(service.file().st_ino == before.st_ino);
}

TEST_CASE("the descriptor that was passed is not for programs that the daemon starts") {
  const daemon_lab lab;
  const service_manager service{lab.socket(), SOCK_STREAM};
  auto daemon =
      service.start({"--vmnet-mode=isolated", "--pidfile=" + lab.pidfile(), lab.socket()});
  lab.await_ready(daemon);
  std::ifstream info{"/proc/" + std::to_string(daemon.pid()) + "/fdinfo/3"};
  std::string key;
  unsigned long flags = 0;
  while (info >> key && key != "flags:") {
  }
  info >> std::oct >> flags;
  CHECK((flags & O_CLOEXEC) != 0);
  end(daemon);
}

TEST_CASE("a passed socket that is for none of the listeners is an error, and nothing is touched") {
  const daemon_lab lab;
  const service_manager service{lab.socket(), SOCK_STREAM};
  auto daemon = service.start({"--vmnet-mode=isolated", lab.folder / "other"});
  CHECK(daemon.wait(soon()) == 78);
  CHECK(contains(daemon.error_output(), lab.socket()));
  CHECK_FALSE(lab.folder.has("other"));
  CHECK(lab.folder.has("s"));
}
