// vmswitchd reads its configuration anew while it runs.

#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/daemon_lab.hpp"
#include "tests/integration/notify_socket.hpp"
#include "tests/integration/witness.hpp"
#include "tests/support/process_usage.hpp"
#include "tests/support/vm_client.hpp"
#include "tests/vmnet/forward/loopback_client.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

// A daemon with a configuration file that is written again and again.
struct reload_lab : daemon_lab {
  std::string network(const std::string& name, const std::string& more = "") const {
    return "[[network]]\nname = \"" + name + "\"\nmode = \"isolated\"\n" + more + socket_of(name);
  }
  std::string socket_of(const std::string& name, const std::string& more = "") const {
    return "[[network.listen]]\npath = \"" + folder / name + "\"\n" + more;
  }
  void write(const std::string& text) const { folder.write("vm.toml", text); }
  child_process start_file(words more = {}, child_process::plan how = {}) const {
    more.insert(more.end(), {"--config", folder / "vm.toml", "--pidfile", pidfile()});
    auto daemon = start_with(std::move(more), std::move(how));
    await_ready(daemon);
    return daemon;
  }
  /// Returns what has been logged since.
  std::string reload(child_process& daemon) const {
    const auto before = daemon.error_output().size();
    const auto ends = [&] {
      const auto text = daemon.error_output().substr(before);
      return contains(text, "reload: ") &&
             (contains(text, "change(s) made") || contains(text, "in effect already") ||
              contains(text, "refused"));
    };
    daemon.signal(SIGHUP);
    const bool ended = poll_until(ends, soon());
    INFO(daemon.error_output());
    REQUIRE(ended);
    return daemon.error_output().substr(before);
  }
};

} // namespace

TEST_CASE("SIGHUP: networks and sockets come and go, and who is not concerned stays") {
  const reload_lab lab;
  lab.write(lab.network("a") + lab.network("b"));
  auto daemon = lab.start_file();
  auto a1 = lab.connect("a"), a2 = lab.connect("a"), b1 = lab.connect("b"), b2 = lab.connect("b");
  REQUIRE(hears(a2, a1));
  REQUIRE(hears(b2, b1));
  lab.write(lab.network("a") + lab.socket_of("a-more") + lab.network("c"));
  const auto log = lab.reload(daemon);
  CHECK(contains(log, "network b: remove it"));
  CHECK(contains(log, "network a: open the stream socket " + lab.folder / "a-more"));
  CHECK(contains(log, "network c: add it"));
  CHECK(contains(log, "3 change(s) made"));
  CHECK(is_hung_up(b1));
  CHECK_FALSE(lab.folder.has("b"));
  auto a3 = lab.connect("a-more"), c1 = lab.connect("c"), c2 = lab.connect("c");
  CHECK(hears(a3, a1));
  CHECK(hears(a1, a2));
  CHECK(hears(c2, c1));
  CHECK(contains(lab.reload(daemon), "in effect already"));
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(soon()) == 0);
  CHECK(lab.folder.count() == 1); // the configuration
}

TEST_CASE("a file with mistakes changes nothing, and all of them are in the log") {
  const reload_lab lab;
  lab.write(lab.network("a"));
  auto daemon = lab.start_file();
  auto a1 = lab.connect("a"), a2 = lab.connect("a");
  REQUIRE(hears(a2, a1));
  lab.write("[daemon]\nlog_level = \"debug\"\nworkers = 0\n" + lab.network("b", "mtu = 3\n"));
  auto log = lab.reload(daemon);
  CHECK(contains(log, "vm.toml:3:11: daemon.workers"));
  CHECK(contains(log, "network.mtu"));
  CHECK(contains(log, "refused, 2 mistake(s): nothing has changed"));
  CHECK_FALSE(lab.folder.has("b"));
  lab.write("[daemon\n");
  log = lab.reload(daemon);
  CHECK(contains(log, "vm.toml:1"));
  std::filesystem::remove(lab.folder / "vm.toml");
  CHECK(contains(lab.reload(daemon), "cannot read"));
  REQUIRE(::mkfifo((lab.folder / "vm.toml").c_str(), 0600) == 0); // would be waited for
  CHECK(contains(lab.reload(daemon), "no regular file"));
  CHECK(hears(a1, a2));
}

TEST_CASE("the command line goes on overriding the file, and what cannot change is named") {
  const reload_lab lab;
  lab.write("[daemon]\nlog_level = \"error\"\n" + lab.network("a"));
  auto daemon = lab.start_file({"--log-level=info", "--socket-mode=0640", "--workers=1"});
  lab.write("[daemon]\nlog_level = \"warn\"\nworkers = 3\nuser = \"nobody\"\n" + lab.network("a") +
            lab.socket_of("more"));
  const auto log = lab.reload(daemon);
  CHECK_FALSE(contains(log, "workers"));
  CHECK(contains(log, "needs a restart: user default -> nobody"));
  CHECK(contains(log, "1 change(s) made, 1 need(s) a restart"));
  struct stat status {};
  REQUIRE(::lstat((lab.folder / "more").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
}

TEST_CASE("level and format of the log change at once") {
  const reload_lab lab;
  lab.write(lab.network("a"));
  auto daemon = lab.start_file();
  lab.write("[daemon]\nlog_format = \"json\"\nlog_level = \"debug\"\n" + lab.network("a"));
  const auto log = lab.reload(daemon);
  CHECK(daemon.error_output().front() != '{');
  CHECK(contains(log, "\n{"));
}

TEST_CASE("without a configuration file a reload has nothing to do") {
  const reload_lab lab;
  auto daemon = lab.start();
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  CHECK(contains(lab.reload(daemon), "in effect already"));
  CHECK(hears(a, b));
  auto c = lab.connect();
  CHECK(hears(c, a));
}

TEST_CASE("reservations and the host interface change under a VM that stays connected") {
  const reload_lab lab;
  const auto text = [&](const std::string& more, int vm, const std::string& address) {
    return "[[network]]\nname = \"nat\"\nmode = \"user\"\n" + more +
           "[[network.reservation]]\nmac = \"" + to_string(vm_mac(static_cast<std::uint32_t>(vm))) +
           "\"\naddress = \"" + address + "\"\n" + lab.socket_of("nat");
  };
  const auto reaches_gateway = [](vm_client& vm) {
    vm_client* all[] = {&vm};
    const auto gateway = ipv4_address::parse("192.168.105.1").value();
    REQUIRE(vm.send(vm.vm().ping(gateway, vm_clock())));
    return serve_until(
               all, [&] { return vm.vm().all_answered(); }, soon())
        .value_or(false);
  };
  const auto address_of = [](vm_client& vm) {
    vm_client* all[] = {&vm};
    REQUIRE(vm.send(vm.vm().request_address(vm_clock())));
    REQUIRE(serve_until(
        all, [&] { return vm.vm().address().has_value(); }, soon()));
    return to_string(*vm.vm().address());
  };
  lab.write(text("", 1, "192.168.105.77"));
  auto daemon = lab.start_file();
  vm_client first{simulated_vm{vm_mac(1)}, lab.connect("nat")};
  CHECK(address_of(first) == "192.168.105.77");
  CHECK(reaches_gateway(first));

  lab.write(text("host_loopback = false\n", 1, "192.168.105.77"));
  CHECK(contains(lab.reload(daemon), "restart the host interface"));
  CHECK(reaches_gateway(first));

  lab.write(text("host_loopback = false\n", 2, "192.168.105.78"));
  CHECK(contains(lab.reload(daemon), "DHCP: reservations +1 -1"));
  vm_client second{simulated_vm{vm_mac(2)}, lab.connect("nat")};
  CHECK(address_of(second) == "192.168.105.78");
  CHECK(reaches_gateway(first));
}

TEST_CASE("what a reload may not do fails with its reason; that network stays, the rest is done") {
  const reload_lab lab;
  ::chmod(lab.folder.path().c_str(), 0777);
  lab.write(lab.network("a"));
  child_process::plan how;
  if (::geteuid() == 0)
    how.prepare = [] {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0)
        ::_exit(99);
    };
  auto daemon = lab.start_file({}, how);
  lab.folder.write("taken", "precious");
  lab.write(lab.network("a") + lab.socket_of("taken") + "[[network]]\nname = \"tap\"\n" +
            "mode = \"shared\"\n" + lab.socket_of("tap") + lab.network("b"));
  const auto log = lab.reload(daemon);
  CHECK(contains(log, "network tap: add it"));
  // Where everyone may open /dev/net/tun, it is the capability that is lacking.
  CHECK((contains(log, "CAP_NET_ADMIN") || contains(log, "/dev/net/tun")));
  CHECK(contains(log, "taken: there is a file of that name"));
  CHECK(contains(log, "1 change(s) made, 2 failed"));
  CHECK_FALSE(lab.folder.has("tap"));
  CHECK(frame_socket::stream(lab.folder / "a"));
  CHECK(frame_socket::stream(lab.folder / "b"));
  // The next one tries again, and needs no other change for that.
  std::filesystem::remove(lab.folder / "taken");
  CHECK(contains(lab.reload(daemon), "1 change(s) made, 1 failed"));
  CHECK(frame_socket::stream(lab.folder / "taken"));
}

TEST_CASE("a hundred reloads under load: an unchanged network loses no frame, nothing is left") {
  const reload_lab lab;
  const auto keep = lab.network("keep", "[network.limits]\negress_deadline_ms = 5000\n");
  const auto forwarded = free_port();
  const auto text = [&](int round) {
    const bool odd = round % 2 == 1;
    std::string all = keep;
    all += "[[network]]\nname = \"nat\"\nmode = \"user\"\n" + lab.socket_of("nat") +
           "[[network.reservation]]\nmac = \"52:54:00:00:00:01\"\naddress = \"192.168.105." +
           std::to_string(10 + round % 100) + "\"\n";
    if (odd)
      all += lab.socket_of("nat-more") + lab.socket_of("nat-dgram", "type = \"dgram\"\n") +
             "[[network.forward]]\nport = " + std::to_string(forwarded) +
             "\nto = \"192.168.105.9\"\n";
    all += lab.network(odd ? "odd" : "even");
    if (odd)
      all += "[[network]]\nname = \"nat-odd\"\nmode = \"user\"\nsubnet = \"10.9.0.0/24\"\n" +
             lab.socket_of("nat-odd");
    return all;
  };
  lab.write(text(0));
  auto daemon = lab.start_file();
  witness w{lab.connect("keep"), lab.connect("keep")};
  auto nat1 = lab.connect("nat"), nat2 = lab.connect("nat");
  REQUIRE(hears(nat2, nat1));
  const auto rounds = [&](int from, int to) {
    for (int round = from; round <= to; ++round) {
      lab.write(text(round));
      const auto log = lab.reload(daemon);
      INFO(log);
      REQUIRE_FALSE(contains(log, "not done"));
      REQUIRE(contains(log, " change(s) made"));
      REQUIRE(is_taken(forwarded) == (round % 2 == 1));
    }
  };
  rounds(1, 10);
  const auto descriptors = descriptors_of(daemon.pid());
  const auto threads = threads_of(daemon.pid())->threads;
  const auto memory = usage_of(daemon.pid())->resident_mib;
  const auto begin = clock_type::now();
  rounds(11, 110);
  MESSAGE("100 reloads took " << std::chrono::duration<double>(clock_type::now() - begin).count()
                              << " s");
  CHECK(hears(nat1, nat2));
  w.check();
  CHECK(poll_until([&] { return descriptors_of(daemon.pid()) <= descriptors; }, soon()));
  CHECK(threads_of(daemon.pid())->threads <= threads);
  if constexpr (!VMSWITCH_SANITIZED) // whose allocator keeps what was freed
    CHECK(usage_of(daemon.pid())->resident_mib < memory + 8);
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(soon()) == 0);
  CHECK(lab.folder.count() == 1);
}

TEST_CASE("a storm of SIGHUP ends with the file as it is then, and a SIGTERM in it with the end") {
  const reload_lab lab;
  lab.write(lab.network("a"));
  auto daemon = lab.start_file();
  witness w{lab.connect("a"), lab.connect("a")};
  for (int i = 0; i < 2000; ++i) {
    if (i % 100 == 0)
      lab.write(lab.network("a") + lab.network("n" + std::to_string(i / 100)));
    daemon.signal(SIGHUP);
  }
  CHECK(poll_until([&] { return lab.folder.has("n19") && !lab.folder.has("n18"); }, soon()));
  w.check();
  std::string many = lab.network("a");
  for (int i = 0; i < 60; ++i)
    many += lab.network("m" + std::to_string(i));
  lab.write(many);
  daemon.signal(SIGHUP);
  poll_until([&] { return lab.folder.has("m0"); }, soon());
  const auto begin = clock_type::now();
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(soon()) == 0);
  CHECK(clock_type::now() - begin < 2s);
  CHECK(lab.folder.count() == 1);
}

TEST_CASE("the service manager hears RELOADING=1 with the time, and READY=1 when it is over") {
  const reload_lab lab;
  notify_socket manager{lab.folder / "notify"};
  child_process::plan how;
  how.environment = {"NOTIFY_SOCKET=" + lab.folder / "notify"};
  lab.write(lab.network("a"));
  auto daemon = lab.start_file({}, how);
  CHECK(contains(manager.next(), "READY=1"));
  for (const auto* text : {"", "nonsense"}) {
    lab.write(lab.network("a") + text);
    daemon.signal(SIGHUP);
    const auto begins = "\n" + manager.next() + "\n";
    CHECK(contains(begins, "\nRELOADING=1\n"));
    CHECK(contains(begins, "\nMONOTONIC_USEC="));
    CHECK(contains("\n" + manager.next() + "\n", "\nREADY=1\n"));
  }
}

TEST_CASE("a SIGHUP that comes before the daemon has read its configuration waits") {
  const reload_lab lab;
  const auto file = lab.folder / "vm.toml";
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  auto daemon = lab.start_with({"--config", file, "--pidfile", lab.pidfile()});
  owned_fd writer;
  REQUIRE(poll_until( // which works from when the daemon has opened it
      [&] {
        writer.reset(::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        return static_cast<bool>(writer);
      },
      soon()));
  daemon.signal(SIGHUP);
  const auto text = lab.network("lab");
  CHECK(::write(writer.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  writer.reset();
  lab.await_ready(daemon);
  CHECK(
      poll_until([&] { return contains(daemon.error_output(), "it is no regular file"); }, soon()));
}
