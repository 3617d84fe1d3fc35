#include "app/ctl/control_client.hpp"

#include <thread>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "tests/support/temporary_folder.hpp"
#include "transport/listening_socket.hpp"

using namespace vmswitch;

namespace {

// What a client makes of a daemon that sends this to whoever comes, and hangs up.
client_result<std::string> answer_to(const std::string& sent) {
  const test::temporary_folder folder;
  auto socket = listening_socket::open({listen_type::stream, folder / "c", {}, {}});
  REQUIRE(socket);
  std::thread hostile{[&] {
    accept_result got;
    while (got.status != accept_status::accepted)
      got = socket->accept();
    std::string_view left = sent;
    while (!left.empty()) {
      const auto count = ::send(got.connection.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (count > 0)
        left.remove_prefix(static_cast<std::size_t>(count));
      else if (errno != EAGAIN)
        break;
    }
    ::shutdown(got.connection.get(), SHUT_WR);
    char asked[4096];
    while (::recv(got.connection.get(), asked, sizeof asked, 0) != 0 && errno != ECONNRESET)
      ;
  }};
  auto answer = control_client{folder / "c"}.call("GET", "/v1/status");
  hostile.join();
  return answer;
}

} // namespace

TEST_SUITE("control client") {

  TEST_CASE("an answer is taken, with a length, in chunks, or until the end") {
    for (const char* sent : {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
                             "HTTP/1.1 200 OK\r\n\r\n{}"}) {
      CAPTURE(sent);
      const auto answer = answer_to(sent);
      REQUIRE(answer);
      CHECK(*answer == "{}");
    }
  }

  TEST_CASE("an answer that says it is a terabyte gets no memory before it comes") {
    const auto answer = answer_to("HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n{}");
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == exit_code::unavailable);
    CHECK(answer.error().text.find("has hung up") != std::string::npos);
  }

  TEST_CASE("a refusal without an end is not read to its end") {
    const auto answer = answer_to("HTTP/1.1 500 Oh\r\nContent-Length: 999999999999\r\n\r\n" +
                                  std::string(std::size_t{4} << 20, 'x'));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().text == "the daemon answers with HTTP status 500");
  }

} // TEST_SUITE
