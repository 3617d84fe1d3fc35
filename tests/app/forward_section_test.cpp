#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/render_config.hpp"
#include "tests/app/config_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using strings = std::vector<std::string>;

namespace {

/// A right network with a `[[network.forward]]` in line 4 that has these lines.
std::string forwarding(const std::string& lines) {
  return "[[network]]\n[[network.listen]]\npath = \"/run/a.sock\"\n[[network.forward]]\n" + lines +
         "\n";
}

strings rules(const std::string& text) {
  strings all;
  const auto settings = parsed(text);
  for (const auto& rule : settings.networks[0].forwards)
    all.push_back(to_string(rule));
  return all;
}

} // namespace

TEST_CASE("forwards: every setting arrives, and what may be left out has its default") {
  CHECK(rules(forwarding("port = 2222\nto = \"web\"\nto_port = 22\n[[network.forward]]\n"
                         "protocol = \"udp\"\nlisten = \"::\"\nport = \"5000-5001\"\n"
                         "to = \"fd00::5\"")) == strings{"tcp 127.0.0.1:2222 -> web:22",
                                                         "udp [::]:5000 -> [fd00::5]:5000",
                                                         "udp [::]:5001 -> [fd00::5]:5001"});
}

TEST_CASE("forwards: all mistakes are named at once, where they stand") {
  CHECK(places(forwarding("protocol = \"icmp\"\nlisten = \"localhost\"\nport = 0\nto = \"\"\n"
                          "to_port = \"x\"\nfrom = 1")) ==
        strings{"5:12 network.forward.protocol", "6:10 network.forward.listen",
                "7:8 network.forward.port", "8:6 network.forward.to",
                "9:11 network.forward.to_port", "10:1 network.forward.from"});
  CHECK(contains(mistakes(forwarding("")), "needs the port of this host"));
  CHECK(contains(mistakes(forwarding("")), "needs a VM"));
  CHECK(contains(mistakes(forwarding("port = \"1-2\"\nto = \"web\"\nto_port = 1")),
                 "two ranges of one size"));
  CHECK(places(forwarding("port = 80\nto = \"10.0.0.1\"")) == strings{"6:6 network.forward.to"});
}

TEST_CASE("forwards: a place to listen is used once, by all networks together") {
  const std::string second =
      "[[network]]\nname = \"b\"\n[[network.listen]]\npath = \"/run/b.sock\"\n"
      "[[network.forward]]\n";
  const auto first = forwarding("port = \"80-81\"\nto = \"web\"");
  CHECK(contains(mistakes(first + second + "port = 81\nlisten = \"0.0.0.0\"\nto = \"db\""),
                 "tcp 0.0.0.0:81 is already taken by the forward in line 5"));
  CHECK(places(first + second + "port = 81\nprotocol = \"udp\"\nto = \"db\"").empty());
  CHECK(places(first + second + "port = 82\nto = \"db\"").empty());
}

TEST_CASE("forwards: what a network cannot have is told with the network's own words") {
  const std::string forward = "\n[[network.forward]]\nport = 80\nto = \"web\"\n";
  const auto of = [&](const std::string& lines) { return mistakes(network_with(lines) + forward); };
  CHECK(of("").empty());
  CHECK(contains(of("mode = \"isolated\""), "isolated network"));
  CHECK(contains(of("mode = \"bridged\"\ninterface = \"br0\""), "bridged network"));
  CHECK(contains(of("dhcp = { enabled = false }"), "DHCP is off"));
  // What follows from another mistake is not told.
  CHECK(places(network_with("subnet = \"x\"") + "\n[[network.forward]]\nport = 80\n"
                                                "to = \"10.0.0.1\"\n")
            .size() == 1);
}

TEST_CASE("forwards: --check prints a range as it was written") {
  const auto text = render_config(parsed(forwarding(
      "port = \"5000-5002\"\nto = \"web\"\nto_port = \"6000-6002\"\n[[network.forward]]\n"
      "listen = \"10.0.0.1\"\nport = 22\nto = \"52:54:00:12:34:56\"")));
  CHECK(contains(text, "[[network.forward]]\nprotocol = \"tcp\"\nlisten = \"127.0.0.1\"\n"
                       "port = \"5000-5002\"\nto = \"web\"\nto_port = \"6000-6002\"\n"));
  CHECK(contains(text, "listen = \"10.0.0.1\"\nport = 22\nto = \"52:54:00:12:34:56\"\n"
                       "to_port = 22\n"));
  CHECK(rules(text).size() == 4);
}

TEST_CASE("hostile: more forwards than a network takes") {
  CHECK(contains(mistakes(forwarding("port = \"1-1024\"\nto = \"web\"\n[[network.forward]]\n"
                                     "port = 2000\nto = \"web\"")),
                 "these are more"));
}
