// Live captures of a real daemon, through vmswitchctl and by hand.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/integration/control_lab.hpp"
#include "tests/support/pcapng_reader.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

struct lab : control_lab {
  std::size_t running() const { return get("/v1/captures")["captures"].size(); }
  // vmswitchctl capture, as soon as the switch has it.
  child_process capture(words options) const {
    const auto before = running();
    child_process::plan how;
    how.command = {VMSWITCH_BIN_DIR "/vmswitchctl", "--control=" + control(), "capture"};
    how.command.insert(how.command.end(), options.begin(), options.end());
    auto started = child_process::start(how);
    REQUIRE(started);
    REQUIRE(poll_until([&] { return running() > before || started->wait(); }, soon()));
    INFO(started->error_output());
    REQUIRE_FALSE(started->wait());
    return std::move(*started);
  }
  std::string file() const { return folder / "out.pcapng"; }
  pcapng_stream read() const {
    std::ifstream in{file(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    return pcapng_stream::parse(std::as_bytes(std::span{text}));
  }
  static std::size_t descriptors(pid_t pid) {
    const std::filesystem::directory_iterator all{"/proc/" + std::to_string(pid) + "/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

// Frames from `from` that `to` has got: they are through the switch.
void pass(frame_socket& from, frame_socket& to, std::uint32_t receiver, std::uint8_t count) {
  for (std::uint8_t tag = 1; tag <= count; ++tag)
    REQUIRE(from.send(tagged_frame(vm_mac(receiver), vm_mac(1), tag), soon()));
  bool last = false;
  while (!last)
    REQUIRE(to.receive(
        soon(), [&](std::span<const std::byte> bare) { last = last || tag_of(bare) == count; }));
}

} // namespace

TEST_CASE("vmswitchctl capture writes a port's frames into a file, and Ctrl-C ends it in order") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  auto capture = l.capture({"-p", "default.2", "-w", l.file()});
  pass(a, b, 2, 20);
  capture.signal(SIGINT);
  CHECK(capture.wait(soon()) == 0);
  CHECK(contains(capture.error_output(), "20 frame(s) captured, 0 lost"));
  const auto stream = l.read();
  REQUIRE(stream.packets.size() == 20);
  CHECK(stream.interfaces.at(0).name == "default.2");
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(tag_of(stream.packets[i].bytes) == i + 1);
    CHECK(stream.packets[i].direction == 2);
  }
  CHECK(stream.ends.at(0).more.number(8) == 20);
  CHECK(poll_until([&] { return l.running() == 0; }, soon()));
}

TEST_CASE("a capture ends after its count, with its port, and with the daemon") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect();
  std::optional<frame_socket> c{l.connect()};
  REQUIRE(hears(b, a));
  REQUIRE(hears(*c, a));
  auto counted = l.capture({"-c", "3", "-w", l.file()});
  pass(a, b, 2, 20);
  CHECK(counted.wait(soon()) == 0);
  CHECK(contains(counted.error_output(), "3 frame(s) captured, 0 lost; 3 frame(s) were"));
  CHECK(l.read().packets.size() == 3);

  auto of_port = l.capture({"--port=default.3", "-w", l.file()});
  c.reset();
  CHECK(of_port.wait(soon()) == 0);
  CHECK(contains(of_port.error_output(), "the port has gone"));

  auto of_all = l.capture({"-w", l.file()});
  daemon.signal(SIGTERM);
  CHECK(daemon.wait(soon()) == 0);
  CHECK(of_all.wait(soon()).has_value());
  CHECK_NOTHROW(l.read()); // whole blocks
}

TEST_CASE("what cannot be captured is said, with libpcap's words where they are its own") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  const auto filter = l.ctl({"capture", "-f", "tcp prt 80"});
  CHECK(filter.code == 1);
  CHECK(contains(filter.error, "syntax error"));
  const auto port = l.ctl({"capture", "-p", "default.9", "-w", l.file()});
  CHECK(port.code == 1);
  CHECK(contains(port.error, "no port default.9; it has: default.1, default.2"));
  CHECK_FALSE(l.folder.has("out.pcapng")); // no file for nothing
  CHECK(contains(l.ctl({"capture", "-n", "nowhere"}).error, "there is: default"));
  CHECK(contains(l.ctl({"capture", "-s", "5"}).error, "snaplen must be a number"));
  CHECK(contains(l.ctl({"capture", "-c", "1", "-w", "/nowhere/x"}).error, "/nowhere/x: No such"));
  CHECK(l.status_of("GET", "/v1/capture?filer=arp") == "400");
  CHECK(poll_until([&] { return l.running() == 0; }, soon()));
}

TEST_CASE("with several networks, the port says which one is to be captured") {
  const lab l;
  l.folder.write("vm.toml", "[daemon]\ncontrol = \"c\"\n[[network]]\nname = \"x\"\n"
                            "mode = \"isolated\"\n[[network.listen]]\npath = \"x\"\n"
                            "[[network]]\nname = \"y\"\nmode = \"isolated\"\n"
                            "[[network.listen]]\npath = \"s\"\n");
  auto daemon = l.start_with({"--config", l.folder / "vm.toml", "--pidfile", l.pidfile()});
  l.await_ready(daemon);
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  auto capture = l.capture({"-p", "y.2", "-c", "3", "-w", l.file()});
  pass(a, b, 2, 3);
  CHECK(capture.wait(soon()) == 0);
  CHECK(contains(l.ctl({"capture", "-w", l.file()}).error, "There are: x, y (vmswitchctl: -n)"));
}

TEST_CASE("a capture client that is killed leaves nothing behind") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  REQUIRE(l.running() == 0);
  const auto before = lab::descriptors(daemon.pid()); // that of this question may be among them
  for (int i = 0; i < 3; ++i) {
    auto one = l.capture({"-w", l.file()});
    auto other = l.capture({"-f", "icmp", "-w", l.file()});
    pass(a, b, 2, 20);
    for (auto* client : {&one, &other}) {
      client->signal(SIGKILL);
      client->wait(soon());
    }
    CHECK(poll_until([&] { return l.running() == 0; }, soon()));
  }
  CHECK(poll_until([&] { return lab::descriptors(daemon.pid()) <= before; }, soon()));
}

TEST_CASE("a reader that has stopped loses frames, which are counted, and the VMs lose none") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  auto capture = l.capture({"-w", l.file()});
  capture.signal(SIGSTOP);
  constexpr std::uint64_t frames = 8000; // of 1514 bytes: twice what ring and sockets hold
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  const auto count = [&](std::span<const std::byte> bare) { received += bare.size() == 1514; };
  while (received < frames) {
    for (int i = 0; i < 50 && sent < frames; ++i, ++sent)
      REQUIRE(a.send(tagged_frame(vm_mac(2), vm_mac(1), 1, 1514), soon()));
    REQUIRE(b.receive(soon(), count));
  }
  const auto seen = l.get("/v1/captures")["captures"][0];
  const auto lost = seen["lost"].get<std::uint64_t>();
  CHECK(lost > 0);
  CHECK(seen["frames"].get<std::uint64_t>() + lost == frames);
  capture.signal(SIGCONT);
  capture.signal(SIGINT);
  CHECK(capture.wait(soon()) == 0);
  CHECK(contains(capture.error_output(), std::to_string(lost) + " lost"));
  const auto stream = l.read();
  CHECK(stream.packets.size() + lost == frames);
  CHECK(stream.ends.at(0).more.number(5) == lost);
}

TEST_CASE("a client by hand: half-closed, it gets the statistics and the end") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  raw_client client{l.control()};
  client.send("GET /v1/capture?snaplen=64 HTTP/1.1\r\n\r\n");
  const auto head = client.until("\r\n\r\n");
  CHECK(contains(head, "200 OK"));
  CHECK(contains(head, "Content-Type: application/x-pcapng"));
  client.half_close();
  CHECK(contains(client.until_hangup(), "\r\n0\r\n\r\n"));
  CHECK(poll_until([&] { return l.running() == 0; }, soon()));
}
