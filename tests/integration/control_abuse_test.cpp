// Hostile and clumsy clients of the control socket: they get an answer or are hung up on, and
// others do not notice.

#include <memory>

#include "tests/integration/control_lab.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using namespace std::chrono_literals;

TEST_CASE("malformed requests are told so, and hung up on") {
  const control_lab lab;
  auto daemon = lab.start();
  for (const std::string request :
       {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "G\x01T / HTTP/1.1\r\n\r\n",
        "GET /v1/status HTTP/1.1\r\nBad Header: x\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "\x16\x03\x01\x02"}) {
    CAPTURE(request);
    raw_client client{lab.control()};
    client.send(request);
    client.half_close();
    const auto answer = client.until_hangup();
    if (!answer.empty())
      CHECK(contains(answer, "HTTP/1.1 400 Bad Request"));
  }
  CHECK(contains(lab.ask("GET /%00 HTTP/1.1\r\nConnection: close\r\n\r\n"), " 400 "));
  CHECK(lab.status_of("GET", "/v1/status") == "200");
}

TEST_CASE("a header that never ends is refused at 8 KiB, a body at 64 KiB") {
  const control_lab lab;
  auto daemon = lab.start();
  CHECK(contains(lab.ask("GET /" + std::string(10'000, 'a')), " 431 "));
  CHECK(contains(lab.ask("PUT /v1/log HTTP/1.1\r\nContent-Length: 1073741824\r\n\r\n"), " 413 "));
  // And one that does not say how long it is, or sends it all the same.
  raw_client client{lab.control()};
  client.send("PUT /v1/log HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
  const auto piece = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  std::size_t sent = 0;
  while (sent < (std::size_t{1} << 30) && client.send(piece))
    sent += piece.size();
  CHECK(sent < std::size_t{64} << 20); // it was hung up on, and has not been read to the end
  CHECK(lab.status_of("GET", "/v1/status") == "200");
}

TEST_CASE("a client that waits for leave to send its body gets it, or a refusal at once") {
  const control_lab lab;
  auto daemon = lab.start();
  raw_client client{lab.control()};
  client.send("PUT /v1/log HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 17\r\n\r\n");
  CHECK(contains(client.until("\r\n\r\n"), "100 Continue"));
  client.send(R"({"level":"debug"})");
  CHECK(contains(client.until("}\n"), "200 OK"));
  CHECK(contains(lab.ask("PUT /v1/log HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: "
                         "100000\r\n\r\n"),
                 " 413 "));
}

TEST_CASE("requests that come together are answered one after the other, in order") {
  const control_lab lab;
  auto daemon = lab.start();
  raw_client client{lab.control()};
  std::string all;
  for (int i = 0; i < 50; ++i)
    all += i % 2 == 0 ? "GET /v1/log HTTP/1.1\r\n\r\n" : "GET /nowhere HTTP/1.1\r\n\r\n";
  client.send(all);
  for (int i = 0; i < 50; ++i)
    CHECK(contains(client.until("}\n"), i % 2 == 0 ? " 200 OK" : " 404 Not Found"));
}

TEST_CASE("HEAD has no body, HTTP/1.0 ends its connection") {
  const control_lab lab;
  auto daemon = lab.start();
  const auto head = lab.ask("HEAD /v1/log HTTP/1.1\r\nConnection: close\r\n\r\n");
  CHECK(contains(head, "Content-Length: "));
  CHECK(head.ends_with("\r\n\r\n"));
  CHECK(contains(lab.ask("GET /v1/log HTTP/1.0\r\n\r\n"), "\"level\""));
}

TEST_CASE("a thousand idle clients, and a hundred that send a byte now and then, keep nobody out") {
  const control_lab lab;
  auto daemon = lab.start();
  std::vector<std::unique_ptr<raw_client>> crowd;
  for (int i = 0; i < 1000; ++i)
    crowd.push_back(std::make_unique<raw_client>(lab.control()));
  for (int i = 0; i < 100; ++i) {
    crowd.push_back(std::make_unique<raw_client>(lab.control()));
    crowd.back()->send("GET /v1/status HTTP/1.1\r\nX: ");
  }
  const auto begin = std::chrono::steady_clock::now();
  CHECK(lab.status_of("GET", "/v1/status") == "200");
  CHECK(std::chrono::steady_clock::now() - begin < 2s);
  for (int i = 1000; i < 1100; ++i)
    crowd[static_cast<std::size_t>(i)]->send("x");
  const auto status = lab.get("/v1/status");
  CHECK(status["control_connections"].get<int>() <= 256);
  // Those that came last are still served.
  crowd.back()->send("\r\n\r\n");
  CHECK(contains(crowd.back()->until("}\n"), "200 OK"));
}

TEST_CASE("clients that come and go by the thousand leave nothing behind") {
  const control_lab lab;
  auto daemon = lab.start();
  for (int i = 0; i < 2000; ++i) {
    raw_client client{lab.control()};
    client.send(i % 3 == 0 ? "GET /v1/status HTTP/1.1\r\n\r\n" : i % 3 == 1 ? "GET /v" : "");
  }
  CHECK(poll_until([&] { return lab.get("/v1/status")["control_connections"] == 1; }, soon()));
}
