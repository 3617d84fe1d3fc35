#include "vmnet/forward/forward_rule.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

std::string printed(std::string_view text) {
  const auto rules = parse_forward(text);
  if (!rules)
    return "refused: " + rules.error().text;
  std::string all;
  for (const auto& rule : *rules)
    all += (all.empty() ? "" : ", ") + to_string(rule);
  return all;
}

bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string judged(std::string_view text, host_mode mode, bool gives_addresses = true) {
  host_config host;
  host.mode = mode;
  const auto rules = parse_forward(text);
  REQUIRE_MESSAGE(rules, printed(text));
  const auto right = check_forward(rules->front(), host, gives_addresses);
  return right ? std::string{} : right.error().text;
}

} // namespace

TEST_SUITE("forward rule") {

  TEST_CASE("text is parsed with what may be left out, and printed in one way") {
    CHECK(printed("tcp 127.0.0.1:2222 -> web:22") == "tcp 127.0.0.1:2222 -> web:22");
    CHECK(printed("2222 -> web:22") == "tcp 127.0.0.1:2222 -> web:22");
    CHECK(printed(" udp  0.0.0.0:53->web ") == "udp 0.0.0.0:53 -> web:53");
    CHECK(printed("tcp [::1]:80 -> [fd00::5]:8080") == "tcp [::1]:80 -> [fd00::5]:8080");
    CHECK(printed("80 -> 52-54-00-12-34-56:8080") == "tcp 127.0.0.1:80 -> 52:54:00:12:34:56:8080");
    CHECK(printed("80 -> 52:54:00:12:34:56") == "tcp 127.0.0.1:80 -> 52:54:00:12:34:56:80");
    CHECK(printed("80 -> 192.168.105.9:81") == "tcp 127.0.0.1:80 -> 192.168.105.9:81");
  }

  TEST_CASE("what is printed is parsed as the same rule") {
    for (const auto* text : {"tcp 127.0.0.1:2222 -> web:22", "udp [::]:53 -> [fd00::5]:53",
                             "tcp 10.0.0.1:1 -> 52:54:00:12:34:56:65535"}) {
      const auto once = parse_forward(text);
      REQUIRE(once);
      CHECK(to_string(once->front()) == text);
      CHECK(parse_forward(to_string(once->front())).value() == *once);
      CHECK(parse_forward_listen(to_string(once->front().listen)).value() == once->front().listen);
    }
  }

  TEST_CASE("a range is one rule for each port") {
    CHECK(printed("8000-8001 -> web:9000-9001") ==
          "tcp 127.0.0.1:8000 -> web:9000, tcp 127.0.0.1:8001 -> web:9001");
    CHECK(printed("65535-65535 -> web") == "tcp 127.0.0.1:65535 -> web:65535");
    CHECK(says(printed("8000-8002 -> web:9000-9001"), "two ranges of one size"));
    CHECK(says(printed("8002-8000 -> web"), "write 8000-8002"));
    CHECK(says(printed("1-1025 -> web"), "more than the 1024"));
    CHECK(parse_forward("1-1024 -> web")->size() == 1024);
  }

  TEST_CASE("anything else is refused with what would be right") {
    CHECK(says(printed(""), "tcp 127.0.0.1:2222 -> web:22"));
    CHECK(says(printed("2222:web:22"), "does not say where to"));
    CHECK(says(printed("sctp 1.2.3.4:5 -> web"), "write tcp or udp"));
    CHECK(says(printed("0 -> web"), "write 1 to 65535"));
    CHECK(says(printed("65536 -> web"), "write 1 to 65535"));
    CHECK(says(printed("80 -> web:http"), "write 1 to 65535"));
    CHECK(says(printed("80 -> "), "write its name, its MAC address or its address"));
    CHECK(says(printed("80 -> we b"), "no VM"));
    CHECK(says(printed("80 -> 1234"), "no VM"));
    CHECK(says(printed("80 -> ff:ff:ff:ff:ff:ff"), "not the MAC address of a VM"));
    CHECK(says(printed("localhost:80 -> web"), "127.0.0.1 (this host only)"));
    CHECK(says(printed("224.0.0.1:80 -> web"), "group address"));
    CHECK(says(printed("[fe80::1]:80 -> web"), "without a link"));
    CHECK(says(printed("::1:80 -> web"), "[::1]:80"));
    CHECK(says(printed("80 -> fd00::5:22"), "in brackets"));
    CHECK(says(printed("80 -> a -> b"), "no VM"));
    CHECK_FALSE(parse_forward_listen("80-81"));
  }

  TEST_CASE("what a network can have depends on its mode, and is told") {
    CHECK(judged("80 -> web", host_mode::user).empty());
    CHECK(judged("80 -> 192.168.105.9", host_mode::user).empty());
    CHECK(judged("[::1]:80 -> [fd00::5]:80", host_mode::user).empty());
    CHECK(judged("[::1]:80 -> web", host_mode::shared).empty());
    CHECK(says(judged("80 -> 192.168.105.9", host_mode::isolated), "choose another mode"));
    CHECK(says(judged("80 -> web", host_mode::bridged), "write the VM's address"));
    CHECK(judged("80 -> 10.1.2.3", host_mode::bridged).empty());
    CHECK(says(judged("80 -> web", host_mode::host, false), "DHCP is off"));
    CHECK(judged("80 -> 192.168.105.9", host_mode::host, false).empty());
    CHECK(says(judged("80 -> 10.1.2.3", host_mode::host), "not an address for a host in"));
    CHECK(says(judged("80 -> 192.168.105.1", host_mode::host), "is the gateway"));
    CHECK(says(judged("80 -> 127.0.0.1", host_mode::bridged), "not an address that a VM has"));
    CHECK(says(judged("80 -> [fe80::5]:80", host_mode::bridged), "without a link"));
  }

  TEST_CASE("lima#4979: a ::1 forward to an IPv4 address through libslirp is an error, no hang") {
    CHECK(says(judged("[::1]:80 -> web", host_mode::user), "listen on 127.0.0.1"));
    CHECK(says(judged("[::]:80 -> 192.168.105.9", host_mode::user), "listen on 0.0.0.0"));
    CHECK(says(judged("127.0.0.1:80 -> [fd00::5]:80", host_mode::user), "listen on ::1"));
  }

  TEST_CASE("IPv6 where there is none, and UDP with the host's loopback closed") {
    host_config host;
    host.ipv6 = false;
    CHECK_FALSE(check_forward(parse_forward("[::1]:80 -> [fd00::5]:80")->front(), host, true));
    host.host_loopback = false;
    CHECK_FALSE(check_forward(parse_forward("udp 53 -> web")->front(), host, true));
    CHECK(check_forward(parse_forward("udp 10.0.0.1:53 -> web")->front(), host, true));
    CHECK(check_forward(parse_forward("tcp 53 -> web")->front(), host, true));
  }

  TEST_CASE("two forwards conflict if a connection could be meant for both") {
    const auto clash = [](std::string_view a, std::string_view b) {
      const auto left = *parse_forward_listen(a), right = *parse_forward_listen(b);
      CHECK(in_conflict(left, right) == in_conflict(right, left));
      return in_conflict(left, right);
    };
    CHECK(clash("80", "127.0.0.1:80"));
    CHECK(clash("0.0.0.0:80", "127.0.0.1:80"));
    CHECK(clash("[::]:80", "[::1]:80"));
    CHECK_FALSE(clash("10.0.0.1:80", "127.0.0.1:80"));
    CHECK_FALSE(clash("[::]:80", "0.0.0.0:80"));
    CHECK_FALSE(clash("tcp 80", "udp 80"));
    CHECK_FALSE(clash("80", "81"));
  }

} // TEST_SUITE
