// vmswitchctl as a person meets it.

#include <csignal>

#include "tests/integration/control_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

TEST_CASE("vmswitchctl shows tables to people and JSON to programs") {
  const control_lab lab;
  auto daemon = lab.start();
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  for (const char* command :
       {"status", "networks", "ports", "mac", "leases", "dns", "drops", "log"}) {
    CAPTURE(command);
    const auto table = lab.ctl({command});
    CHECK(table.code == 0);
    CHECK_FALSE(table.output.empty());
    CHECK(table.error.empty());
    CHECK_FALSE(contains(table.output, "\x1b")); // no terminal, no colours
    const auto raw = lab.ctl({command, "--json"});
    CHECK(raw.code == 0);
    CHECK(nlohmann::json::accept(raw.output));
  }
  CHECK(contains(lab.ctl({"ports"}).output, "default.1"));
  CHECK(contains(lab.ctl({"mac"}).output, "02:00:00:00:00:01"));
  CHECK(contains(lab.ctl({"--color=always", "ports"}).output, "\x1b[1mPORT"));
  CHECK(lab.ctl({"log", "debug"}).output == "debug\n");
  CHECK(lab.ctl({"log"}).output == "debug\n");
}

TEST_CASE("words that are no UTF-8 reach the daemon, which refuses them") {
  const control_lab lab;
  auto daemon = lab.start();
  for (const daemon_lab::words& command : {daemon_lab::words{"log", "\xff"},
                                           {"forward", "add", "80", "to", "\xff:80"},
                                           {"port", "set", "default.1", "--name", "\xff"},
                                           {"dashboard", "--listen", "\xff"}}) {
    CAPTURE(command.front());
    const auto refused = lab.ctl(command);
    CHECK(refused.code == 1);
    CHECK(refused.error.starts_with("vmswitchctl: "));
  }
}

TEST_CASE("bash completes commands, options and what the daemon has") {
  const control_lab lab;
  auto daemon = lab.start();
  const auto completed = [&](const std::string& words, int current) {
    child_process::plan how;
    how.command = {"/bin/bash", "-c",
                   "PATH=" VMSWITCH_BIN_DIR ":$PATH; source <(vmswitchctl completion bash) && "
                   "COMP_WORDS=(" +
                       words + ") COMP_CWORD=" + std::to_string(current) +
                       " && _vmswitchctl && echo \"${COMPREPLY[@]}\""};
    how.environment = {"VMSWITCH_CONTROL=" + lab.control()};
    auto bash = child_process::start(how);
    REQUIRE(bash);
    CHECK(bash->wait(soon()) == 0);
    CHECK(bash->error_output().empty());
    return bash->output();
  };
  CHECK(completed("vmswitchctl stat", 1) == "status\n");
  CHECK(completed("vmswitchctl ports --wat", 2) == "--watch\n");
  CHECK(completed("vmswitchctl ports -n ''", 3) == "default\n");
  CHECK(completed("vmswitchctl log de", 2) == "debug\n");
  CHECK(completed("vmswitchctl forward a", 2) == "add\n");
  CHECK(completed("vmswitchctl forward add -n ''", 4) == "default\n");
  CHECK(completed("vmswitchctl --color al", 2) == "always\n");
  CHECK(completed("vmswitchctl port s", 2) == "set\n");
  CHECK(completed("vmswitchctl port set --do", 3) == "--down\n");
  CHECK(completed("vmswitchctl port set lab.1 --isolate of", 5) == "off\n");
}

TEST_CASE("vmswitchctl top shows text where there is no terminal") {
  const control_lab lab;
  auto daemon = lab.start();
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  const auto top = lab.ctl({"top", "-c", "2", "-i", "0.1"});
  CHECK(top.code == 0);
  CHECK(contains(top.output, "2 ports by traffic"));
  CHECK(contains(top.output, "default.1"));
  CHECK_FALSE(contains(top.output, "\x1b"));
}

TEST_CASE("events are told as they happen") {
  const control_lab lab;
  auto daemon = lab.start();
  raw_client watcher{lab.control()};
  watcher.send("GET /v1/events HTTP/1.1\r\n\r\n");
  CHECK(contains(watcher.until("\r\n\r\n"), "text/event-stream"));
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  CHECK(contains(watcher.until("event: port_up"), "id: "));
  CHECK(contains(watcher.until("02:00:00:00:00:01"), "mac_learned"));
  a.close();
  watcher.until("event: port_down");
  CHECK(contains(watcher.until("\n\n"), "closed by the VM"));
  // Who was away gets what he has missed.
  const auto since = [&](const std::string& how) {
    raw_client late{lab.control()};
    late.send("GET /v1/events" + how + "\r\n\r\n");
    return late.until("port_down");
  };
  CHECK(contains(since("?since=0 HTTP/1.1"), "event: network_up"));
  CHECK(contains(since(" HTTP/1.1\r\nLast-Event-ID: 0"), "event: network_up"));
  CHECK(lab.status_of("GET", "/v1/events?since=x") == "400");
}

TEST_CASE("a watcher that does not read holds nobody up") {
  const control_lab lab;
  auto daemon = lab.start();
  raw_client stuck{lab.control()};
  stuck.send("GET /v1/events HTTP/1.1\r\n\r\n");
  for (int i = 0; i < 3000; ++i)
    REQUIRE(control_client{lab.control()}.call("PUT", "/v1/log", R"({"level":"error"})"));
  CHECK(lab.status_of("GET", "/v1/status") == "200");
  CHECK(contains(stuck.until("\"lost\""), "log_level"));
}

TEST_CASE("metrics are there for a scraper") {
  const control_lab lab;
  auto daemon = lab.start();
  auto a = lab.connect(), b = lab.connect();
  REQUIRE(hears(b, a));
  const auto text = lab.ask("GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n");
  CHECK(contains(text, "Content-Type: text/plain; version=0.0.4"));
  CHECK(contains(text, "vmswitch_vms{network=\"default\"} 2\n"));
  CHECK(contains(text, "vmswitch_port_frames_total{network=\"default\",port=\"default.1\","
                       "direction=\"in\"} "));
}

TEST_CASE("vmswitchctl says what is wrong and what to do, and its exit code tells it to scripts") {
  const control_lab lab;
  const auto absent = lab.ctl({"status"});
  CHECK(absent.code == 69);
  CHECK(contains(absent.error, "is vmswitchd running?"));
  auto daemon = lab.start();
  const auto unknown = lab.ctl({"ports", "-n", "nowhere"});
  CHECK(unknown.code == 1);
  CHECK(contains(unknown.error, "there is no network nowhere; there is: default"));
  CHECK(lab.ctl({"log", "loud"}).code == 1);
  const auto misspelt = lab.ctl({"prots"});
  CHECK(misspelt.code == 64);
  CHECK(lab.ctl({}).code == 64);
  CHECK(lab.ctl({"--version"}).code == 0);
  CHECK(contains(lab.ctl({"ports", "--help"}).output, "--watch"));
  CHECK(contains(lab.ctl({"forward", "add", "--help"}).output, "Usage: vmswitchctl forward add "));
  daemon.signal(SIGKILL);
  daemon.wait(soon());
  const auto ended = lab.ctl({"status"});
  CHECK(ended.code == 69);
  CHECK(contains(ended.error, "the daemon has ended"));
}
