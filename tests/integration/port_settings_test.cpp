// Ports that are named, isolated and set down through the control socket of a real daemon.

#include <unistd.h>

#include "tests/integration/control_lab.hpp"
#include "tests/integration/tags.hpp"
#include "tests/support/simulated_vm.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

namespace {

struct machine {
  frame_socket socket;
  simulated_vm vm;

  void send(const simulated_vm::frames& frames) {
    for (const auto& each : frames)
      REQUIRE(socket.send(each, soon()));
  }
};

// Lets all talk until `done`, or for a time that is enough on any machine.
bool talk(std::initializer_list<machine*> all, const std::function<bool()>& done) {
  const auto until = soon();
  simulated_vm::time now{0};
  while (!done() && frame_socket::clock::now() < until) {
    now += 50ms; // their time: what is not answered is sent again
    for (auto* each : all) {
      simulated_vm::frames answers = each->vm.on_time(now);
      REQUIRE(each->socket.receive(frame_socket::clock::now() + 2ms,
                                   [&](std::span<const std::byte> bare) {
                                     for (auto& frame : each->vm.on_frame(bare, now))
                                       answers.push_back(std::move(frame));
                                   }));
      each->send(answers);
    }
  }
  return done();
}

// All that `vm` gets up to the frame with this tag, but for those of hears().
tags heard_until(frame_socket& vm, int last) {
  auto heard = tags_until(vm, last, soon());
  std::erase(heard, 111);
  return heard;
}

struct lab : control_lab {
  void say(frame_socket& from, mac_address to, std::uint32_t number, std::uint8_t tag) const {
    REQUIRE(from.send(tagged_frame(to, vm_mac(number), tag), soon()));
  }
  std::string refused(const std::string& target, const std::string& body) const {
    const auto answer = control_client{control()}.call("PATCH", target, body);
    REQUIRE_FALSE(answer);
    return answer.error().text;
  }
};

} // namespace

TEST_CASE("isolated VMs have the host and its services, and not each other") {
  const lab l;
  auto daemon = l.start({"--vmnet-mode=user"});
  machine a{l.connect(), simulated_vm{vm_mac(1)}}, b{l.connect(), simulated_vm{vm_mac(2)}};
  REQUIRE(hears(b.socket, a.socket));
  CHECK(l.ctl({"port", "set", "default.1", "--isolate=on"}).code == 0);
  CHECK(l.ctl({"port", "set", "default.2", "--isolate=on"}).code == 0);
  for (auto* each : {&a, &b})
    each->send(each->vm.request_address(0ms));
  REQUIRE(talk({&a, &b}, [&] { return a.vm.address() && b.vm.address(); }));
  a.send(a.vm.ping(*b.vm.address(), 0ms));
  a.send(a.vm.ping(*a.vm.router(), 0ms));
  b.send(b.vm.ping(*b.vm.router(), 0ms));
  REQUIRE(talk({&a, &b},
               [&] { return a.vm.round_trip(*a.vm.router()) && b.vm.round_trip(*b.vm.router()); }));
  CHECK_FALSE(a.vm.round_trip(*b.vm.address()));
  CHECK_FALSE(a.vm.neighbour(*b.vm.address()));
  CHECK(l.ctl({"port", "set", "default.2", "--isolate=off"}).code == 0);
  CHECK(talk({&a, &b}, [&] { return a.vm.all_answered(); }));
}

TEST_CASE("from the answer on, isolated ports exchange nothing, and what is dropped is counted") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect(), c = l.connect();
  REQUIRE(hears(b, a));
  REQUIRE(hears(c, a));
  l.say(b, broadcast_mac, 2, 1);
  heard_until(c, 1);
  for (const char* port : {"default.1", "default.2"})
    CHECK(l.ctl({"port", "set", port, "--isolate", "on"}).code == 0);
  l.say(a, vm_mac(2), 1, 2);
  l.say(a, broadcast_mac, 1, 3);
  CHECK(heard_until(c, 3) == tags{3});
  l.say(c, broadcast_mac, 3, 4);
  CHECK(heard_until(a, 4) == tags{1, 4});
  CHECK(heard_until(b, 4) == tags{4});
  CHECK(l.get("/v1/ports/default.1")["drops"] == nlohmann::json{{"port_isolated", 1}});
  CHECK(contains(l.ctl({"drops"}).output, "port set --isolate off"));
}

TEST_CASE("a port that is set down is connected, and as if it were not") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect(), c = l.connect();
  REQUIRE(hears(b, a));
  REQUIRE(hears(c, a));
  l.say(a, broadcast_mac, 1, 9); // behind which nothing of hears() is under way
  heard_until(c, 9);
  const auto down = l.ctl({"port", "set", "default.1", "--down"});
  CHECK(down.code == 0);
  CHECK(contains(down.output, "down"));
  CHECK(l.get("/v1/macs")["macs"].empty());
  l.say(a, broadcast_mac, 1, 1);
  CHECK(poll_until([&] { return l.get("/v1/ports/default.1")["drops"].value("port_down", 0) == 1; },
                   soon()));
  l.say(b, broadcast_mac, 2, 2);
  CHECK(heard_until(c, 2) == tags{2});
  const auto port = l.get("/v1/ports/default.1");
  CHECK(port["state"] == "down");
  CHECK(port["drops"]["port_down"] == 2);
  const auto up = l.ctl({"port", "set", "default.1", "--up"});
  CHECK(contains(up.output, "default.1"));
  l.say(b, broadcast_mac, 2, 3);
  CHECK(heard_until(a, 3) == tags{3});
  l.say(a, vm_mac(2), 1, 4);
  CHECK(heard_until(b, 4) == tags{9, 4});
}

TEST_CASE("a name that a person gives is shown, and taken wherever a port is named") {
  const lab l;
  auto daemon = l.start();
  raw_client watcher{l.control()};
  watcher.send("GET /v1/events HTTP/1.1\r\n\r\n");
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  CHECK(contains(l.ctl({"port", "set", "default.1", "--name", "web"}).output, "default.1 (web)"));
  watcher.until("event: port_changed");
  const auto event = watcher.until("\n\n");
  CHECK(contains(event, R"("port":"default.1","alias":"web")"));
  CHECK(contains(event, "uid " + std::to_string(::getuid())));
  CHECK(contains(daemon.error_output(), "network default: port default.1: name web (control"));
  for (const char* command : {"ports", "mac"})
    CHECK(contains(l.ctl({command}).output, "default.1 (web)"));
  CHECK(contains(l.ctl({"top", "-c", "1", "-i", "0.1"}).output, "web "));
  CHECK(l.get("/v1/ports/web")["name"] == "default.1");
  CHECK(l.get("/v1/macs?port=web")["macs"].size() == 1);
  raw_client capture{l.control()};
  capture.send("GET /v1/capture?port=web HTTP/1.1\r\n\r\n");
  CHECK(contains(capture.until("\r\n\r\n"), "200 OK"));
  CHECK(contains(l.ctl({"port", "set", "web", "--isolate=on"}).output, "up, isolated"));
  CHECK(contains(l.ctl({"names", "ports"}).output, "web\n"));
  CHECK_FALSE(contains(l.ctl({"port", "set", "web", "--name", ""}).output, "web"));
  CHECK(l.status_of("GET", "/v1/ports/web") == "404");
}

TEST_CASE("a setting that cannot be is refused with what would be right") {
  const lab l;
  auto daemon = l.start();
  auto a = l.connect(), b = l.connect();
  REQUIRE(hears(b, a));
  REQUIRE(l.ctl({"port", "set", "default.1", "--name=web"}).code == 0);
  CHECK(contains(l.refused("/v1/ports/default.2", R"({"name": "web"})"), "port default.1 has"));
  CHECK(contains(l.refused("/v1/ports/default.2", R"({"name": "default.1"})"), "choose another"));
  CHECK(
      contains(l.refused("/v1/ports/default.2", R"({"isolate": true})"), "name, isolated and up"));
  CHECK(
      contains(l.refused("/v1/ports/default.9", R"({"up": true})"), "there is no port default.9"));
  const auto taken = l.ctl({"port", "set", "default.2", "--name=web"});
  CHECK(taken.code == 1);
  CHECK(contains(taken.error, "choose another"));
  CHECK(l.ctl({"port", "set", "default.2"}).code == 64);
  CHECK(l.ctl({"port", "set", "default.2", "--up", "--down"}).code == 64);
  CHECK(contains(l.ctl({"port", "set", "--help"}).output, "until its VM"));
}
