#include "app/printable.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace vmswitch;

TEST_CASE("control characters are shown, all other text is left as it is") {
  CHECK(printable("plain gr\xc3\xbc\xc3\x9f \xe2\x82\xac") ==
        "plain gr\xc3\xbc\xc3\x9f \xe2\x82\xac");
  CHECK(printable("a\nb\x1b[1m\x7f") == "a\\nb\\x1b[1m\\x7f");
  CHECK(printable(std::string("\0", 1)) == "\\x00");
  CHECK(printable("\xc2\x9b"
                  "1m") == "\\xc2\\x9b"
                           "1m");
}

TEST_CASE("a message of several lines keeps them, and nothing else that steers a terminal") {
  CHECK(printable_lines("a.toml:1: no\x1b[1m\n\nb\r") == "a.toml:1: no\\x1b[1m\n\nb\\x0d");
}

TEST_CASE("hostile: a character that is cut off at the end is not read beyond") {
  CHECK(printable(std::string_view{"\xc2\x9b"}.substr(0, 1)) == "\xc2");
}

TEST_CASE("long text is cut between characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "abc...");
  CHECK(shortened("ab\xe2\x82\xac"
                  "c",
                  4) == "ab...");
  CHECK(shortened("ab\xe2\x82\xac"
                  "c",
                  5) == "ab\xe2\x82\xac...");
  CHECK(shortened("\x80\x80\x80\x80", 2) == "...");
}
