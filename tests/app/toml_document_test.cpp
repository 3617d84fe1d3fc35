#include "app/toml_document.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/app/config_support.hpp"

using namespace vmswitch;
using namespace vmswitch::test;
using strings = std::vector<std::string>;

TEST_CASE("several syntax errors are all named, together with wrong values around them") {
  CHECK(places("[daemon]\n"
               "workers = 99\n"
               "pidfile = /run/x.pid\n"
               "log_level =\n"
               "[[network]]\n"
               "name = \"unclosed\n"
               "mtu = 1500\n"
               "mtu = 9000\n"
               "ipv6 = True\n"
               "[[network.listen]]\n"
               "path = \"/a\"\n"
               "mode = 0660\n"
               "colour = 1\n") ==
        strings{"2:11 daemon.workers", "3:11 daemon.pidfile", "4:12 daemon.log_level",
                "6:17 network.name", "8:7 network.mtu", "9:8 network.ipv6",
                "12:12 network.listen.mode", "13:1 network.listen.colour"});
}

TEST_CASE("a syntax error does not make what it hides look missing") {
  CHECK(places("[[network]]\n[[network.listen]]\npath = /run/a.sock\n") ==
        strings{"3:8 network.listen.path"});
  CHECK(places("[[network]]\n[[network.listen]]\npath \"/run/a.sock\"\n") == strings{"3:6 "});
  CHECK(places("[[network]]\nlisten = [{ path = /run/a.sock }]\n") ==
        strings{"2:20 network.listen"});
}

TEST_CASE("what is missing beside a syntax error is named all the same") {
  CHECK(places("[daemon]\nworkers = 08\n[[network]]\n[[network.listen]]\nmode = 0660\n") ==
        strings{"2:13 daemon.workers", "4:1 network.listen.path", "5:12 network.listen.mode"});
}

TEST_CASE("advice for the syntax errors that people make") {
  CHECK(contains(mistakes("[x]\nmode = 0660\n"), "such as \"0660\" in quotes"));
  CHECK(contains(mistakes("path = /run/x\n"), "text stands in double quotes"));
  CHECK(contains(mistakes("a = 1\na = 2\n"), "keep one of the two"));
}

TEST_CASE("a broken table header, or a bracket that is never closed, ends the search openly") {
  CHECK(places("[network\nmtu = 1\nx = \n") == strings{"1:9 "});
  CHECK(contains(mistakes("[network\nmtu = 1\n"), "what follows was not looked at"));
  CHECK(places("a = [1,\nb = 2\nc = 3\nd = x\n").size() == 1);
  CHECK(places("a = \"\"\"x\nb = 1\nc = 2\n").size() == 1);
}

TEST_CASE("hostile: the number of syntax errors that are looked for is limited") {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "x = \n";
  CHECK(places(text).size() == max_syntax_errors);
}

TEST_CASE("hostile: a file that is too large, not UTF-8, or nested without end") {
  CHECK(places(std::string(max_config_size + 1, '\n')) == strings{"1:1 "});
  CHECK_FALSE(places("[daemon]\npidfile = \"\xff\xfe\"\n").empty());
  CHECK_FALSE(places("a = " + std::string(100'000, '[')).empty());
  CHECK_FALSE(places("[\n=\n\n=1\n").empty()); // a header without a name above a broken line
  CHECK_FALSE(places(std::string{"[\n=\n\0\n\0\n\x06\xe2\n=\xa5\n=", 15}).empty());
  std::string nested = "a";
  for (int i = 0; i < 50'000; ++i)
    nested += ".a";
  CHECK(places("\n" + nested + " = 1\n") == strings{"2:1 "});
  CHECK(places("[" + nested + "]\n") == strings{"1:1 "});
  CHECK_FALSE(places(std::string(16, '\0')).empty());
}

TEST_CASE("an error is one line of text, whatever the file has in it") {
  for (const auto* text : {"a = tru\nb = 1\n", "a = \"x\x01\n", "\x1b[31m = 1\n", "a = fals\n"}) {
    const auto settings = parse_config(text, "t.toml");
    REQUIRE_FALSE(settings.has_value());
    for (const auto& mistake : settings.error()) {
      const auto line = to_string(mistake);
      CHECK_MESSAGE(std::ranges::none_of(line, [](unsigned char c) { return c < ' '; }), line);
    }
  }
}
