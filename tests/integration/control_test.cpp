// The control socket of a real daemon, as clients see it.

#include <csignal>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/control_lab.hpp"
#include "tests/support/numbered_batch.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

const nlohmann::json& named(const nlohmann::json& list, const std::string& name) {
  for (const auto& each : list)
    if (each.at("name") == name)
      return each;
  static const nlohmann::json none;
  FAIL("there is no " << name);
  return none;
}

} // namespace

TEST_CASE("the daemon tells of itself, its networks and its ports") {
  const control_lab lab;
  auto daemon = lab.start();
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  const auto status = lab.get("/v1/status");
  CHECK(status["pid"] == daemon.pid());
  CHECK(status["networks_up"] == 1);
  CHECK(status["ports"] == 2);
  CHECK(status["role"] == "full");
  const auto network = lab.get("/v1/networks")["networks"][0];
  CHECK(network["name"] == "default");
  CHECK(network["mode"] == "isolated");
  CHECK(network["listeners"][0]["path"] == lab.socket());
  CHECK(lab.get("/v1/networks/default") == lab.get("/v1/networks")["networks"][0]);
  const auto ports = lab.get("/v1/ports")["ports"];
  REQUIRE(ports.size() == 2);
  const auto& first = named(ports, "default.1");
  CHECK(first["pid"] == ::getpid());
  CHECK(first["uid"] == ::getuid());
  CHECK(first["macs"] == nlohmann::json{"02:00:00:00:00:01"});
  CHECK(lab.get("/v1/ports/default.1")["name"] == "default.1");
  const auto macs = lab.get("/v1/macs")["macs"];
  REQUIRE(macs.size() == 1);
  CHECK(macs[0]["port"] == "default.1");
  CHECK(lab.get("/v1/leases")["leases"].empty());
  CHECK(lab.status_of("GET", "/v1/ports/default.9") == "404");
  CHECK(lab.status_of("GET", "/v1/ports?network=other") == "404");
}

TEST_CASE("what is counted is what was sent and received, to the frame and the byte") {
  const control_lab lab;
  auto daemon = lab.start();
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  REQUIRE(a.send(tagged_frame(broadcast_mac, vm_mac(1), 112), soon())); // a mark: no 111 follows
  const auto drained = [&](frame_socket& vm, int mark) {
    bool seen = false;
    while (!seen)
      REQUIRE(vm.receive(soon(), [&](std::span<const std::byte> bare) {
                  seen = seen || tag_of(bare) == mark;
                }).value_or(0) > 0);
  };
  drained(b, 112);
  const auto before = lab.get("/v1/ports/default.1");
  const auto before_b = lab.get("/v1/ports/default.2");

  constexpr std::uint64_t count = 20'000;
  constexpr std::size_t size = 300;
  constexpr std::size_t batch = 40;
  REQUIRE(b.send(tagged_frame(vm_mac(1), vm_mac(2), 7), soon())); // so that b's address is known
  numbered_batch source{vm_mac(2), vm_mac(1), 1, size, batch};
  std::uint64_t frames = 0, bytes = 0;
  for (std::uint64_t sent = 0; sent < count; sent += batch) {
    REQUIRE(a.send_wire(source.next(), soon()));
    while (frames < sent + batch)
      REQUIRE(b.receive(soon(), [&](std::span<const std::byte> bare) {
                 ++frames;
                 bytes += bare.size();
               }).value_or(0) > 0);
  }
  // Frames that are dropped, each for a reason of its own.
  REQUIRE(a.send_wire(wire_form(frame(13)), soon()));
  REQUIRE(a.send_wire(wire_form(frame(13)), soon()));
  REQUIRE(a.send_wire(wire_form(tagged_frame(vm_mac(2), vm_mac(1), 1, 1600)), soon()));
  REQUIRE(a.send(tagged_frame(vm_mac(1), vm_mac(1), 1), soon()));
  REQUIRE(
      a.send(tagged_frame(vm_mac(2), mac_address::from_integer(0x0100'5e00'0001ULL), 1), soon()));
  REQUIRE(a.send(tagged_frame(vm_mac(2), vm_mac(1), 113), soon()));
  drained(b, 113);

  const auto after = lab.get("/v1/ports/default.1");
  const auto after_b = lab.get("/v1/ports/default.2");
  const auto grown = [](const nlohmann::json& from, const nlohmann::json& to, const char* key) {
    return to[key].get<std::uint64_t>() - from[key].get<std::uint64_t>();
  };
  CHECK(frames == count);
  CHECK(bytes == count * size);
  CHECK(grown(before, after, "frames_in") == count + 6);
  CHECK(grown(before_b, after_b, "frames_out") == count + 1);
  CHECK(grown(before_b, after_b, "bytes_out") == count * size + 60);
  CHECK(grown(before, after, "frames_out") == 1);
  CHECK(after["drops"] ==
        nlohmann::json::parse(R"({"runt":2,"oversize":1,"same_port":1,"group_source":1})"));
  CHECK(after_b["dropped"] == 0);
}

TEST_CASE("counters of VMs that have gone stay in their network's sums") {
  const control_lab lab;
  auto daemon = lab.start();
  auto a = lab.connect();
  {
    auto b = lab.connect();
    REQUIRE(hears(a, b));
  }
  CHECK(poll_until([&] { return lab.get("/v1/ports")["ports"].size() == 1; }, soon()));
  const auto network = lab.get("/v1/networks/default");
  CHECK(network["frames_in"].get<int>() >= 1);
  CHECK(network["connections"] == 2);
  CHECK(network["ports"] == 1);
}

TEST_CASE("the log level is changed while it runs") {
  const control_lab lab;
  auto daemon = lab.start();
  CHECK(lab.get("/v1/log")["level"] == "info");
  CHECK(control_client{lab.control()}.call("PUT", "/v1/log", R"({"level":"debug"})"));
  CHECK(lab.get("/v1/log")["level"] == "debug");
  CHECK(contains(daemon.error_output(), "log level debug (control socket, pid "));
  for (const char* body : {"", "{}", "[]", R"({"level":7})", R"({"level":"loud"})", "\xff"}) {
    CAPTURE(body);
    const auto refused = control_client{lab.control()}.call("PUT", "/v1/log", body);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == exit_code::failed);
  }
  CHECK(lab.get("/v1/log")["level"] == "debug");
}

TEST_CASE("a control socket that was asked for and cannot be had is an error") {
  const control_lab lab;
  auto first = lab.start();
  const auto second =
      lab.run({"--vmnet-mode=isolated", "--control=" + lab.control(), lab.folder / "s2"});
  CHECK(second.code == 73);
  CHECK(contains(second.error, "another process is listening on " + lab.control()));
  const auto unknown =
      lab.run({"--vmnet-mode=isolated", "--control=" + lab.folder / "none/c", lab.folder / "s2"});
  CHECK(unknown.code == 73);
}

TEST_CASE("the usual one that another daemon has is a warning, and this daemon has none") {
  const control_lab lab;
  auto first = lab.start();
  child_process::plan how;
  how.environment = {"VMSWITCH_CONTROL=" + lab.control()};
  auto second = lab.start_with(
      {"--vmnet-mode=isolated", "--pidfile=" + lab.folder / "pid2", lab.folder / "s2"}, how);
  CHECK(poll_until([&] { return lab.folder.has("pid2"); }, soon()));
  CHECK(contains(second.error_output(), "no control socket: another process is listening on"));
  CHECK(lab.get("/v1/status")["pid"] == first.pid());
}

TEST_CASE("the socket has the mode that was asked for, and goes with the daemon") {
  const control_lab lab;
  const auto config = lab.folder.write(
      "vm.toml", "[daemon]\ncontrol = \"c\"\ncontrol_mode = \"0606\"\n[[network]]\nmode = "
                 "\"isolated\"\n[[network.listen]]\npath = \"s\"\n");
  auto daemon = lab.start_with({"--config", config, "--pidfile", lab.pidfile()});
  lab.await_ready(daemon);
  struct stat status {};
  REQUIRE(::stat(lab.control().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0606);
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(soon()) == 0);
  CHECK_FALSE(lab.folder.has("c"));
}

TEST_CASE("SIGTERM ends the daemon in time with clients at its control socket") {
  const control_lab lab;
  auto daemon = lab.start();
  raw_client idle{lab.control()}, half{lab.control()};
  half.send("GET /v1/sta");
  const auto begin = std::chrono::steady_clock::now();
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(soon()) == 0);
  CHECK(std::chrono::steady_clock::now() - begin < 2s);
  CHECK(idle.until_hangup().empty());
}

TEST_CASE("who may only look changes nothing, and a foreign user is refused by the file") {
  if (::getuid() != 0)
    return; // another user is needed
  const control_lab lab;
  const auto config = lab.folder.write(
      "vm.toml", "[daemon]\ncontrol = \"c\"\ncontrol_mode = \"0666\"\n[[network]]\nmode = "
                 "\"isolated\"\n[[network.listen]]\npath = \"s\"\n");
  REQUIRE(::chmod(lab.folder.path().c_str(), 0755) == 0);
  auto daemon = lab.start_with({"--config", config, "--pidfile", lab.pidfile()});
  lab.await_ready(daemon);
  const auto as_nobody = [&](daemon_lab::words arguments) {
    // The build folder may be root's alone, so nobody's program is this one, before exec.
    child_process::plan how;
    how.command = {VMSWITCH_BIN_DIR "/vmswitchctl", "--control=" + lab.control()};
    how.command.insert(how.command.end(), arguments.begin(), arguments.end());
    how.prepare = [] {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0)
        ::_exit(99);
    };
    auto started = child_process::start(how);
    REQUIRE(started);
    const auto code = started->wait(soon());
    return daemon_lab::outcome{code.value_or(-1), started->output(), started->error_output()};
  };
  const auto looked = as_nobody({"--json", "status"});
  if (looked.code == 126)
    return; // this build cannot be run by others
  CHECK(looked.code == 0);
  CHECK(contains(looked.output, R"("role":"read-only")"));
  const auto changed = as_nobody({"log", "debug"});
  CHECK(changed.code == 77);
  CHECK(contains(changed.error, "may look but change nothing here"));
  CHECK(lab.get("/v1/log")["level"] == "info");
  REQUIRE(::chmod(lab.control().c_str(), 0600) == 0);
  const auto refused = as_nobody({"status"});
  CHECK(refused.code == 77);
  CHECK(contains(refused.error, "this user may not connect to"));
}
