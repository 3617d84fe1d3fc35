#include "app/log_line.hpp"

#include <chrono>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace vmswitch;

namespace {

// 2001-09-09T01:46:40.007Z
constexpr std::chrono::system_clock::time_point moment{
    std::chrono::milliseconds{1'000'000'000'007}};

} // namespace

TEST_CASE("a text line is time, level and message") {
  CHECK(text_log_line(moment, "info", "network lab: ready") ==
        "2001-09-09T01:46:40.007Z info    network lab: ready");
}

TEST_CASE("a JSON line has time, level and message, in this order") {
  CHECK(json_log_line(moment, "warning", "hello") ==
        R"({"time":"2001-09-09T01:46:40.007Z","level":"warning","message":"hello"})");
}

TEST_CASE("hostile: a JSON line is one line of valid JSON whatever is in the message") {
  const std::string hostile[] = {"\"quotes\" and \\ backslashes",
                                 "two\nlines\r\n",
                                 std::string("NUL \0 inside", 12),
                                 "\x01\x1b[31mred\x7f",
                                 "not UTF-8: \xff\xfe\xc3(",
                                 "cut off: \xe2\x82",
                                 "\xc0\xaf overlong",
                                 "surrogate \xed\xa0\x80",
                                 "\",\"level\":\"error",
                                 "</script>",
                                 ""};
  for (const auto& message : hostile) {
    const auto line = json_log_line(moment, "info", message);
    CHECK(line.find('\n') == std::string::npos);
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    REQUIRE_MESSAGE(!parsed.is_discarded(), line);
    CHECK(parsed.size() == 3);
    CHECK(parsed["level"] == "info");
  }
}

TEST_CASE("a JSON line gives valid text back unchanged") {
  const std::string message = "tab\t \"q\" \\ \n \x01 \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
  CHECK(nlohmann::json::parse(json_log_line(moment, "info", message))["message"] == message);
}

TEST_CASE("a JSON line has U+FFFD in place of what is not UTF-8") {
  CHECK(nlohmann::json::parse(json_log_line(moment, "info",
                                            "a\xff"
                                            "b"))["message"] == "a\xef\xbf\xbd"
                                                                "b");
}

TEST_CASE("hostile: a VM cannot forge a second text line or steer the terminal") {
  const auto line = text_log_line(moment, "info",
                                  "a\n2001-09-09T01:46:40.007Z error b\r\x1b[2J\x7f"
                                  "\xc2\x9b"
                                  "31m\t.");
  CHECK(line == "2001-09-09T01:46:40.007Z info    a\\n2001-09-09T01:46:40.007Z error b\\x0d\\x1b[2J"
                "\\x7f\\xc2\\x9b31m\\x09.");
}

TEST_CASE("text in other scripts stays readable") {
  CHECK(text_log_line(moment, "info", "gr\xc3\xbc\xc3\x9f dich")
            .ends_with("gr\xc3\xbc\xc3\x9f dich"));
}

TEST_CASE("a time before 1970 has its milliseconds counted forwards") {
  CHECK(text_log_line(std::chrono::system_clock::time_point{std::chrono::milliseconds{-1}}, "info",
                      "")
            .starts_with("1969-12-31T23:59:59.999Z"));
}
