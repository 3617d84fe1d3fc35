// The life of vmswitchd as a process: how it begins, what signals do, how it ends.

#include <atomic>
#include <csignal>
#include <memory>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/integration/daemon_lab.hpp"
#include "tests/integration/notify_socket.hpp"
#include "tests/support/numbered_batch.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

std::string many_networks(const daemon_lab& lab, int count) {
  std::ostringstream text;
  for (int i = 0; i < count; ++i)
    text << "[[network]]\nname = \"n" << i
         << "\"\nmode = \"isolated\"\n[[network.listen]]\npath = \""
         << lab.folder / ("s" + std::to_string(i)) << "\"\n";
  return lab.folder.write("vm.toml", text.str());
}

} // namespace

TEST_CASE("the pidfile comes last: who sees it can connect to every network") {
  const daemon_lab lab;
  constexpr int networks = 30;
  auto daemon =
      lab.start_with({"--config", many_networks(lab, networks), "--pidfile", lab.pidfile()});
  const auto until = soon();
  while (!lab.folder.has("pid") && clock_type::now() < until && !daemon.wait())
    std::this_thread::yield();
  REQUIRE(lab.folder.has("pid"));
  for (int i = 0; i < networks; ++i)
    CHECK(frame_socket::stream(lab.folder / ("s" + std::to_string(i))));
  CHECK(lab.folder.read("pid") == std::to_string(daemon.pid()) + "\n");
}

TEST_CASE("SIGTERM and SIGINT end it in good order: exit code 0, socket and pidfile are gone") {
  const daemon_lab lab;
  for (const int number : {SIGTERM, SIGINT})
    for (const char* mode : {"--vmnet-mode=isolated", "--vmnet-mode=user"}) {
      CAPTURE(number);
      CAPTURE(mode);
      auto daemon = lab.start({mode});
      auto a = lab.connect(), b = lab.connect();
      REQUIRE(hears(b, a));
      const auto begin = clock_type::now();
      daemon.signal(number);
      CHECK(daemon.wait(soon()) == 0);
      CHECK(clock_type::now() - begin < 2s);
      CHECK(lab.folder.count() == 0);
      CHECK(is_hung_up(a));
    }
}

TEST_CASE("SIGTERM ends it in time while a VM that never reads is being flooded") {
  const daemon_lab lab;
  auto daemon = lab.start();
  auto noisy = lab.connect(), stuck = lab.connect();
  REQUIRE(hears(stuck, noisy));
  std::atomic<int> batches{0};
  std::thread flood{[&] {
    numbered_batch source{broadcast_mac, vm_mac(1), 1, 1514, 40};
    while (noisy.send_wire(source.next(), soon()))
      ++batches;
  }};
  // More than sockets and slabs can hold: the stuck one's queue is full from here on.
  CHECK(poll_until([&] { return batches > 200; }, soon()));
  const auto begin = clock_type::now();
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(soon()) == 0);
  CHECK(clock_type::now() - begin < 2s);
  CHECK(lab.folder.count() == 0);
  flood.join();
}

TEST_CASE("a second signal ends it at once, and takes the pidfile away") {
  const daemon_lab lab;
  int at_once = 0;
  for (int round = 0; round < 100 && (round < 5 || at_once == 0); ++round) {
    auto daemon = lab.start();
    daemon.signal(SIGSTOP); // so that both are there when it looks
    daemon.signal(SIGTERM);
    daemon.signal(SIGINT);
    daemon.signal(SIGCONT);
    const auto code = daemon.wait(soon());
    REQUIRE(code);
    INFO(daemon.error_output());
    // 0: the first one had been enough already.
    CHECK((*code == 128 + SIGTERM || *code == 128 + SIGINT || *code == 0));
    at_once += *code != 0;
    CHECK_FALSE(lab.folder.has("pid"));
  }
  CHECK(at_once > 0);
}

TEST_CASE("gtv#28, gtv#485: what a killed daemon leaves behind does not stop the next one") {
  const daemon_lab lab;
  {
    auto daemon = lab.start();
    daemon.signal(SIGKILL);
    REQUIRE(daemon.wait(soon()) == 128 + SIGKILL);
  }
  REQUIRE(lab.folder.has("s"));
  REQUIRE(lab.folder.has("pid"));
  const auto left = lab.folder.read("pid");
  auto next = lab.start_with({"--vmnet-mode=isolated", "--pidfile", lab.pidfile(), lab.socket()});
  CHECK(
      poll_until([&] { return lab.folder.has("pid") && lab.folder.read("pid") != left; }, soon()));
  auto a = lab.connect(), b = lab.connect();
  CHECK(hears(b, a));
}

TEST_CASE("lima#3020: a VM that connects again after a restart is back on the network") {
  const daemon_lab lab;
  for (const int number : {SIGTERM, SIGKILL}) {
    CAPTURE(number);
    auto daemon = std::make_unique<child_process>(lab.start());
    auto a = lab.connect(), b = lab.connect();
    REQUIRE(hears(b, a));
    daemon->signal(number);
    CHECK(is_hung_up(a));
    CHECK(is_hung_up(b));
    REQUIRE(daemon->wait(soon()));
    CHECK_FALSE(frame_socket::stream(lab.socket())); // nobody is there meanwhile
    std::filesystem::remove(lab.pidfile());
    const auto next = lab.start();
    auto a_again = lab.connect(), b_again = lab.connect();
    CHECK(hears(b_again, a_again));
    CHECK(hears(a_again, b_again));
  }
}

TEST_CASE("the service manager hears READY=1 when VMs can connect, and STOPPING=1 before the end") {
  const daemon_lab lab;
  notify_socket manager{lab.folder / "notify"};
  child_process::plan how;
  how.environment = {"NOTIFY_SOCKET=" + lab.folder / "notify"};
  auto daemon = lab.start_with({"--vmnet-mode=isolated", lab.socket()}, how);
  CHECK(contains("\n" + manager.next() + "\n", "\nREADY=1\n"));
  CHECK(frame_socket::stream(lab.socket()));
  daemon.signal(SIGTERM);
  CHECK(contains("\n" + manager.next() + "\n", "\nSTOPPING=1\n"));
  CHECK(daemon.wait(soon()) == 0);
}

TEST_CASE("with --log-format json every line is an object, errors too, whatever a path holds") {
  const daemon_lab lab;
  const auto odd = lab.folder.write("a \"quoted\" \\ \xff name", "no socket");
  auto ran = lab.run({"--log-format=json", "--vmnet-mode=isolated", odd});
  CHECK(ran.code == 73);
  auto daemon = lab.start({"--log-format=json", "--log-level=trace"});
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  daemon.signal(SIGTERM);
  REQUIRE(daemon.wait(soon()) == 0);

  int lines = 0, errors = 0, about_ports = 0;
  std::istringstream all{ran.error + daemon.error_output()};
  for (std::string line; std::getline(all, line); ++lines) {
    CAPTURE(line);
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    REQUIRE(entry.is_object());
    for (const char* key : {"time", "level", "message"}) {
      REQUIRE(entry.contains(key));
      CHECK(entry[key].is_string());
    }
    errors += entry["level"] == "error";
    about_ports += contains(entry["message"].get<std::string>(), "port default.");
  }
  CHECK(errors == 1);
  CHECK(about_ports >= 2);
}

TEST_CASE("two networks of one daemon do not hear each other") {
  const daemon_lab lab;
  auto daemon = lab.start_with({"--config", many_networks(lab, 2), "--pidfile", lab.pidfile()});
  lab.await_ready(daemon);
  auto a = lab.connect("s0"), b = lab.connect("s0");
  auto other = lab.connect("s1"), other_peer = lab.connect("s1");
  REQUIRE(hears(other, other_peer)); // 111
  for (std::uint8_t i = 0; i < 100; ++i) {
    REQUIRE(hears(b, a));
    REQUIRE(a.send(tagged_frame(broadcast_mac, vm_mac(1), 5), soon())); // the same address
    REQUIRE(other_peer.send(tagged_frame(broadcast_mac, vm_mac(2), i), soon()));
    int last = -1;
    bool only_own = true;
    while (last != i) {
      const auto got = other.receive(soon(), [&](std::span<const std::byte> bare) {
        const auto from = ethernet_view::parse(bare)->source();
        if (from == vm_mac(2))
          last = tag_of(bare);
        else if (i > 0) // before, what introduced them may still be on its way
          only_own = false;
      });
      REQUIRE(got);
      REQUIRE(*got > 0);
    }
    CHECK(only_own);
  }
}
