// The dashboard's port of a real daemon, as browsers and others see it.

#include <csignal>
#include <iterator>
#include <regex>

#include <boost/asio/ip/tcp.hpp>

#include "tests/integration/control_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;

namespace {

struct entrance {
  std::string port;
  std::string token;
};

entrance entrance_in(const std::string& text) {
  static const std::regex url{R"(http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32}))"};
  std::smatch found;
  INFO(text);
  REQUIRE(std::regex_search(text, found, url));
  return {found[1], found[2]};
}

// The whole answer; "" if nobody listens.
std::string ask(const entrance& at, const std::string& request, const std::string& headers = {}) {
  boost::asio::ip::tcp::iostream to;
  to.expires_after(std::chrono::seconds{30});
  to.connect("127.0.0.1", at.port);
  if (!to)
    return {};
  to << request << " HTTP/1.1\r\nConnection: close\r\n"
     << (contains(headers, "Host:") ? "" : "Host: 127.0.0.1:" + at.port + "\r\n") << headers
     << "\r\n"
     << std::flush;
  return {std::istreambuf_iterator<char>{to}, {}};
}

std::string status_of(const entrance& at, const std::string& request,
                      const std::string& headers = {}) {
  const auto answer = ask(at, request, headers);
  return answer.size() > 12 ? answer.substr(9, 3) : answer;
}

std::string cookie(const entrance& at) {
  return "Cookie: vmswitch_" + at.port + "=" + at.token + "\r\n";
}

} // namespace

TEST_CASE("dashboard: who knows the token of the log gets the page, a cookie, and the API") {
  const control_lab lab;
  auto daemon = lab.start({"--vmnet-mode=isolated", "--dashboard=127.0.0.1:0"});
  const auto at = entrance_in(daemon.error_output());
  const auto page = ask(at, "GET /?token=" + at.token);
  CHECK(page.substr(9, 3) == "200");
  CHECK(contains(page, "Set-Cookie: vmswitch_" + at.port + "="));
  CHECK(contains(page, "Content-Security-Policy: default-src 'none'"));
  CHECK(contains(page, "<title>vmswitch</title>"));
  CHECK(status_of(at, "GET /dashboard/main.js", cookie(at)) == "200");
  const auto status = ask(at, "GET /v1/status", cookie(at));
  CHECK(contains(status, R"("role":"full")"));
  CHECK(status_of(at, "PUT /v1/log",
                  cookie(at) + "Content-Length: 17\r\n\r\n{\"level\":\"warn\"} ") == "200");
}

TEST_CASE("dashboard: without the token, or with a wrong one, nothing is to be had") {
  const control_lab lab;
  auto daemon = lab.start({"--vmnet-mode=isolated", "--dashboard=127.0.0.1:0"});
  auto at = entrance_in(daemon.error_output());
  for (const char* path : {"/", "/dashboard/main.js", "/v1/status", "/v1/events", "/metrics", "/x"})
    CHECK_MESSAGE(status_of(at, std::string{"GET "} + path) == "401", path);
  at.token.back() = at.token.back() == '0' ? '1' : '0';
  CHECK(status_of(at, "GET /?token=" + at.token) == "401");
  CHECK(status_of(at, "GET /v1/status", cookie(at)) == "401");
  CHECK(status_of(at, "PUT /v1/log", "Content-Length: 0\r\n") == "401");
}

TEST_CASE("dashboard: DNS rebinding and requests of other pages are refused, token or not") {
  const control_lab lab;
  auto daemon = lab.start({"--vmnet-mode=isolated", "--dashboard=127.0.0.1:0"});
  const auto at = entrance_in(daemon.error_output());
  const auto status = [&](const std::string& headers) {
    return status_of(at, "GET /v1/status", cookie(at) + headers);
  };
  CHECK(status("Host: evil.example:" + at.port + "\r\n") == "403");
  CHECK(status("Origin: http://evil.example\r\n") == "403");
  CHECK(status("Origin: null\r\n") == "403");
  CHECK(status("Host: localhost:" + at.port + "\r\n") == "200");
  CHECK(status("Origin: http://127.0.0.1:" + at.port + "\r\n") == "200");
  // socat and ssh -L lead browsers to the Unix socket.
  CHECK(contains(lab.ask("GET /v1/status HTTP/1.1\r\nHost: evil.example\r\n"
                         "Connection: close\r\n\r\n"),
                 "403"));
}

TEST_CASE("dashboard: --check refuses an address that others can reach, and says what to do") {
  const control_lab lab;
  const auto refused = lab.run({"--check", "--dashboard=0.0.0.0:8080", lab.socket()});
  CHECK(refused.code == 64);
  CHECK(contains(refused.error, "ssh -L"));
  const auto lonely =
      lab.run({"--check", "--dashboard=127.0.0.1:0", "--control=none", lab.socket()});
  CHECK(lonely.code == 64);
  const auto fine = lab.run({"--check", "--dashboard=localhost:8080", lab.socket()});
  CHECK(fine.code == 0);
  CHECK(contains(fine.output, "dashboard = \"127.0.0.1:8080\""));
}

TEST_CASE("dashboard: a port that is taken ends the start with a sentence") {
  const control_lab lab;
  auto daemon = lab.start({"--vmnet-mode=isolated", "--dashboard=127.0.0.1:0"});
  const auto at = entrance_in(daemon.error_output());
  const control_lab other;
  const auto refused = other.run({"--vmnet-mode=isolated", "--dashboard=127.0.0.1:" + at.port,
                                  "--control=" + other.control(), other.socket()});
  CHECK(refused.code == 73);
  CHECK(contains(refused.error, "choose another port"));
}

TEST_CASE("vmswitchctl dashboard opens a port for as long as it runs, and no longer") {
  const control_lab lab;
  auto daemon = lab.start();
  const auto open = [&](std::vector<std::string> more) {
    child_process::plan how;
    how.command = {VMSWITCH_BIN_DIR "/vmswitchctl", "--control=" + lab.control(), "dashboard"};
    how.command.insert(how.command.end(), more.begin(), more.end());
    auto started = child_process::start(how);
    REQUIRE(started);
    poll_until([&] { return contains(started->output(), "Ctrl-C") || started->wait(); }, soon());
    return std::move(*started);
  };
  auto first = open({});
  const auto full = entrance_in(first.output());
  auto second = open({"--read-only"});
  const auto looking = entrance_in(second.output());
  CHECK(contains(ask(full, "GET /v1/status", cookie(full)), R"("role":"full")"));
  CHECK(contains(ask(looking, "GET /v1/status", cookie(looking)), R"("role":"read-only")"));
  CHECK(status_of(looking, "PUT /v1/log", cookie(looking) + "Content-Length: 0\r\n") == "403");
  CHECK(status_of(looking, "GET /v1/status", cookie(full)) == "401");

  first.signal(SIGINT);
  CHECK(first.wait(soon()));
  CHECK(poll_until([&] { return ask(full, "GET /").empty(); }, soon()));
  CHECK(status_of(looking, "GET /v1/status", cookie(looking)) == "200");
  daemon.signal(SIGTERM); // with an open dashboard
  CHECK(daemon.wait(soon()) == 0);
  CHECK(second.wait(soon()));
}
