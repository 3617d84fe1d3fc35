#include "app/control/forward_request.hpp"

#include <utility>

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

std::string complaint(std::string_view body) {
  const auto parsed = parse_forward_addition(body);
  return parsed ? "" : parsed.error().text;
}

} // namespace

TEST_SUITE("forward_request") {

  TEST_CASE("a forward is a rule, or its parts, of which the usual may be left out") {
    for (const auto& each :
         {std::pair{R"({"rule":"2222 -> web:22"})", "tcp 127.0.0.1:2222 -> web:22"},
          {R"({"network":"lab","rule":"udp [::1]:53 -> 52:54:00:00:00:01"})",
           "udp [::1]:53 -> 52:54:00:00:00:01:53"},
          {R"({"listen_port":2222,"to":"web"})", "tcp 127.0.0.1:2222 -> web:2222"},
          {R"({"protocol":"udp","listen_address":"0.0.0.0","listen_port":1,"to":"10.0.0.9",
               "to_port":65535,"network":""})",
           "udp 0.0.0.0:1 -> 10.0.0.9:65535"}}) {
      CAPTURE(each.first);
      const auto parsed = parse_forward_addition(each.first);
      REQUIRE(parsed);
      CHECK(to_string(parsed->rule) == each.second);
    }
    CHECK(parse_forward_addition(R"({"network":"lab","rule":"1 -> web"})")->network == "lab");
    CHECK(parse_forward_addition(R"({"rule":"1 -> web"})")->network.empty());
  }

  TEST_CASE("what is wrong with a forward is said with the name of its field") {
    for (const auto& each :
         {std::pair{"", "send an object"},
          {"[]", "send an object"},
          {"{}", "listen_port: which port"},
          {R"({"rule":"2222"})", "rule: \"2222\" does not say where to"},
          {R"({"rule":"8000-8001 -> web"})", "is 2 forwards: write a single port"},
          {R"({"rule":7})", "rule: is to be a text"},
          {R"({"rule":"1 -> web","to":"db"})", "to: rule says all of it"},
          {R"({"listen_port":0,"to":"web"})", "listen_port: \"0\" is not a port"},
          {R"({"listen_port":65536,"to":"web"})", "listen_port: \"65536\""},
          {R"({"listen_port":22.5,"to":"web"})", "listen_port: \"22.5\""},
          {R"({"listen_port":null,"to":"web"})", "listen_port: \"null\""},
          {R"({"listen_port":"1-2","to":"web"})", "listen_port: \"1-2\""},
          {R"({"listen_port":22})", "to: to which VM"},
          {R"({"listen_port":22,"to":""})", "to: \"\" is no VM"},
          {R"({"listen_port":22,"to":"web","to_port":-1})", "to_port: \"-1\""},
          {R"({"listen_port":22,"to":"web","protocol":"sctp"})", "protocol: \"sctp\""},
          {R"({"listen_port":22,"to":"web","listen_address":"here"})", "listen_address: \"here\""},
          {R"({"listen_port":22,"to":"web","network":7})", "network: is to be a text"},
          {R"({"listen_port":22,"too":"web"})", "there is no field too; there are: network"}}) {
      CAPTURE(each.first);
      CHECK(complaint(each.first).find(each.second) != std::string::npos);
    }
  }

  TEST_CASE("a forward is removed by where it listens, in one text or in parts") {
    CHECK(to_string(parse_forward_removal({{"listen", "2222"}})->listen) == "tcp 127.0.0.1:2222");
    CHECK(to_string(parse_forward_removal({{"listen", "udp [::1]:53"}})->listen) == "udp [::1]:53");
    const auto in_parts = parse_forward_removal({{"network", "lab"},
                                                 {"protocol", "udp"},
                                                 {"listen_address", "::1"},
                                                 {"listen_port", "53"}});
    REQUIRE(in_parts);
    CHECK(in_parts->network == "lab");
    CHECK(to_string(in_parts->listen) == "udp [::1]:53");
  }

  TEST_CASE("a removal that does not name one forward is refused") {
    using parameters = std::map<std::string, std::string, std::less<>>;
    for (const parameters& given : {parameters{},
                                    {{"network", "lab"}},
                                    {{"listen", "1-2"}},
                                    {{"listen", ""}},
                                    {{"listen_port", "x"}},
                                    {{"listen", "1"}, {"listen_port", "1"}},
                                    {{"listen", "1"}, {"prot", "udp"}}})
      CHECK_FALSE(parse_forward_removal(given));
  }

} // TEST_SUITE
