// Port forwards that come and go while the daemon runs.

#include <csignal>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/control_lab.hpp"
#include "tests/support/tcp_segment.hpp"
#include "tests/support/vm_client.hpp"
#include "tests/vmnet/forward/loopback_client.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

constexpr std::uint16_t vm_port = 22;

/// A daemon with a network of mode user, and what is added to its configuration.
struct forward_lab : control_lab {
  void write(const std::string& more = {}, const std::string& host = {}) const {
    folder.write("vm.toml", "[daemon]\ncontrol_mode = \"0666\"\n[[network]]\nname = \"nat\"\n"
                            "mode = \"user\"\n" +
                                host + "[[network.listen]]\npath = \"" + socket() + "\"\n" + more);
  }
  std::string forward(std::uint16_t port, const std::string& to) const {
    return "[[network.forward]]\nport = " + std::to_string(port) + "\nto = \"" + to + "\"\n";
  }
  child_process start_file() const {
    auto daemon = start_with({"--config", folder / "vm.toml", "--pidfile", pidfile(),
                              "--control=" + control(), "--workers=1"});
    await_ready(daemon);
    return daemon;
  }
  std::vector<std::string> rules() const {
    std::vector<std::string> all;
    const auto answer = get("/v1/forwards");
    for (const auto& each : answer.at("forwards"))
      all.push_back(each.at("rule").get<std::string>() + " " +
                    each.at("origin").get<std::string>());
    return all;
  }
};

/// A VM that calls itself "web", and answers what is said to its TCP port with the same, twice.
class echoing_vm {
public:
  explicit echoing_vm(frame_socket socket)
      : client_{simulated_vm{vm_mac(1), "web"}, std::move(socket)} {
    client_.on_frame([this](std::span<const std::byte> bare) { take(bare); });
    REQUIRE(client_.send(client_.vm().request_address(vm_clock())));
    REQUIRE(serve([this] { return client_.vm().address().has_value(); }));
    // So that the network knows it, and need not ask.
    REQUIRE(client_.send(client_.vm().ping(*client_.vm().router(), vm_clock())));
    REQUIRE(serve([this] { return client_.vm().all_answered(); }));
  }
  bool serve(const std::function<bool()>& done) {
    vm_client* all[] = {&client_};
    return serve_until(all, done, soon()).value_or(false);
  }
  std::string address() const { return to_string(*client_.vm().address()); }

  /// What a client of this port of the host reads to its question.
  std::string ask(std::uint16_t port, const std::string& question) {
    const loopback_client client{SOCK_STREAM, "127.0.0.1", port};
    if (!client.connected())
      return "not connected";
    client.say(question);
    std::string heard;
    const bool served = serve([&] {
      char piece[256];
      const auto got = ::recv(client.fd(), piece, sizeof piece, MSG_DONTWAIT);
      if (got > 0)
        heard.append(piece, static_cast<std::size_t>(got));
      return got == 0 || heard.size() >= 2 * question.size();
    });
    return served ? heard : "silence";
  }

private:
  void take(std::span<const std::byte> bare) {
    const auto packet = parse_ipv4(bare);
    const auto segment = packet ? parse_tcp(*packet) : std::nullopt;
    if (!segment || segment->destination_port != vm_port || (segment->flags & tcp_segment::rst))
      return;
    tcp_segment reply{vm_port, segment->source_port, segment->acknowledged,
                      segment->sequence + static_cast<std::uint32_t>(segment->data.size()),
                      tcp_segment::ack};
    if (segment->flags & tcp_segment::syn) {
      reply.flags |= tcp_segment::syn;
      ++reply.acknowledged;
    } else if (!segment->data.empty()) {
      reply.data = segment->data + segment->data;
    } else {
      return;
    }
    CHECK(client_.send({tcp(packet->way.reversed(), reply)}));
  }

  vm_client client_;
};

} // namespace

TEST_CASE("a forward is added to a running daemon, used, listed and removed") {
  const forward_lab lab;
  lab.write();
  auto daemon = lab.start_file();
  const auto port = free_port();
  const auto rule = "tcp 127.0.0.1:" + std::to_string(port) + " -> web:22";
  const auto added = lab.ctl({"forward", "add", rule});
  CHECK(added.error.empty());
  CHECK(added.output == rule + " in network nat: waits for the VM to get an address\n");
  echoing_vm vm{lab.connect()};
  CHECK(vm.ask(port, "hello") == "hellohello");
  const auto listed = lab.ctl({"forward", "list"});
  CHECK(contains(listed.output, vm.address()));
  CHECK(contains(listed.output, "live"));
  const auto forward = lab.get("/v1/forwards?network=nat").at("forwards").at(0);
  CHECK(forward.at("address") == vm.address());
  CHECK(contains(forward.at("added_by"), "uid " + std::to_string(::getuid())));
  CHECK(contains(lab.ctl({"dns"}).output, "web.vm.internal"));
  const auto removed = lab.ctl({"forward", "rm", "tcp", "127.0.0.1:" + std::to_string(port)});
  CHECK(removed.error.empty());
  CHECK(removed.output == rule.substr(0, rule.find(" ->")) + " is removed from network nat\n");
  CHECK_FALSE(is_open(port));
  CHECK(contains(lab.ctl({"forward", "list"}).output, "No port of the host"));
  const auto again = lab.ctl({"forward", "rm", std::to_string(port)});
  CHECK(again.code == 1);
  CHECK(contains(again.error, "there is no forward tcp 127.0.0.1:" + std::to_string(port)));
  raw_client watcher{lab.control()};
  watcher.send("GET /v1/events?since=0 HTTP/1.1\r\n\r\n");
  CHECK(contains(watcher.until("added by pid "), "event: forward"));
  CHECK(contains(watcher.until("removed by pid "), "leads to " + vm.address()));
  CHECK(contains(daemon.error_output(), "forward " + rule + " added by pid "));
}

TEST_CASE("a forward that cannot be had is refused with its reason, and changes nothing") {
  const forward_lab lab;
  lab.write();
  auto daemon = lab.start_file();
  const auto port = std::to_string(free_port());
  REQUIRE(lab.ctl({"forward", "add", port, "to", "web:22"}).code == 0);
  const auto second = lab.ctl({"forward", "add", port + " -> db"});
  CHECK(second.code == 1);
  CHECK(contains(second.error, "is taken by the forward tcp 127.0.0.1:" + port + " -> web:22"));

  const owned_fd other{::socket(AF_INET, SOCK_STREAM, 0)};
  const auto taken = free_port();
  const socket_address place{address_of("127.0.0.1"), taken};
  REQUIRE(::bind(other.get(), place.get(), place.size) == 0);
  REQUIRE(::listen(other.get(), 1) == 0);
  const auto body = R"({"listen_port":)" + std::to_string(taken) + R"(,"to":"web"})";
  const auto refused =
      lab.ask("POST /v1/forwards HTTP/1.1\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  CHECK(contains(refused, "HTTP/1.1 409"));

  CHECK(contains(lab.ctl({"forward", "add", "1 -> 10.0.0.1"}).error, "10.0.0.1"));
  CHECK(contains(lab.ctl({"forward", "add", "2222"}).error, "does not say where to"));
  CHECK(contains(lab.ctl({"forward", "add", "-n", "none", "1 -> web"}).error, "there is: nat"));
  const auto cut = lab.ctl({"forward", "add", "2222", "-"}); // what a shell leaves of ->
  CHECK(cut.code == 64);
  CHECK(contains(cut.error, "in quotes"));
  CHECK(lab.rules() == std::vector<std::string>{"tcp 127.0.0.1:" + port + " -> web:22 live"});
}

TEST_CASE("a reload leaves live forwards alone, and takes over those that it comes to have") {
  const forward_lab lab;
  const auto first = lab.forward(free_port(), "web"), second = lab.forward(free_port(), "web");
  const auto live = free_port();
  const auto rule = "tcp 127.0.0.1:" + std::to_string(live) + " -> 192.168.105.9:22";
  const auto reload = [&](const std::string& more, const std::string& host = {}) {
    lab.write(more, host);
    return lab.ctl({"reload"});
  };
  const auto owners = [&] {
    std::size_t ours = 0, live_ones = 0;
    for (const auto& each : lab.rules())
      ++(each == rule + " live" ? live_ones : ours);
    return std::pair{ours, live_ones};
  };
  lab.write(first);
  auto daemon = lab.start_file();
  REQUIRE(lab.ctl({"forward", "add", rule}).code == 0);
  // The configuration's is replaced by another.
  CHECK(reload(second).code == 0);
  CHECK(owners() == std::pair<std::size_t, std::size_t>{1, 1});
  const auto anew = reload(second, "host_loopback = false\n");
  CHECK(contains(anew.output, "restart the host interface"));
  CHECK(owners() == std::pair<std::size_t, std::size_t>{1, 1});
  CHECK(is_open(live));
  // The configuration comes to have one in that place: another, which is refused, then the same.
  const auto other = reload(second + lab.forward(live, "other"), "host_loopback = false\n");
  CHECK(other.code == 1);
  CHECK(contains(other.output, "is taken by the forward " + rule));
  CHECK(owners() == std::pair<std::size_t, std::size_t>{1, 1});
  const auto same = lab.forward(live, "192.168.105.9") + "to_port = 22\n";
  CHECK(reload(second + same, "host_loopback = false\n").code == 0);
  CHECK(owners() == std::pair<std::size_t, std::size_t>{2, 0});
  CHECK(reload("", "host_loopback = false\n").code == 0);
  CHECK(lab.rules().empty());
}

TEST_CASE("a forward of the configuration that somebody has removed stays away in a reload") {
  const forward_lab lab;
  const auto port = free_port();
  lab.write(lab.forward(port, "web"));
  auto daemon = lab.start_file();
  REQUIRE(lab.ctl({"forward", "rm", std::to_string(port)}).code == 0);
  CHECK(lab.ctl({"reload"}).code == 0);
  CHECK(lab.rules().empty());
  REQUIRE(lab.ctl({"forward", "add", std::to_string(port) + " -> db"}).code == 0);
  lab.write();
  CHECK(lab.ctl({"reload"}).code == 0); // which ends the configuration's, and not that one
  CHECK(lab.rules().size() == 1);
}

TEST_CASE("who may only look lists forwards, and changes none") {
  if (::getuid() != 0)
    return; // another user is needed
  const forward_lab lab;
  lab.write();
  REQUIRE(::chmod(lab.folder.path().c_str(), 0755) == 0);
  auto daemon = lab.start_file();
  const auto as_nobody = [&](daemon_lab::words arguments) {
    arguments.insert(arguments.begin(),
                     {VMSWITCH_BIN_DIR "/vmswitchctl", "--control=" + lab.control()});
    child_process::plan how;
    how.command = std::move(arguments);
    how.prepare = [] {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0)
        ::_exit(99);
    };
    auto started = child_process::start(how);
    REQUIRE(started);
    const auto code = started->wait(soon());
    return daemon_lab::outcome{code.value_or(-1), started->output(), started->error_output()};
  };
  const auto looked = as_nobody({"forward", "list"});
  if (looked.code == 126)
    return; // this build cannot be run by others
  CHECK(looked.code == 0);
  for (const auto& words :
       {daemon_lab::words{"forward", "add", "2222 -> web"}, {"forward", "rm", "2222"}}) {
    const auto refused = as_nobody(words);
    CHECK(refused.code == 77);
    CHECK(contains(refused.error, "may look but change nothing here"));
  }
  CHECK(lab.rules().empty());
}
