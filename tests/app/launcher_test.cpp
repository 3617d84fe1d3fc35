#include "app/launcher.hpp"

#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace vmswitch;
using strings = std::vector<std::string>;

namespace {

tl::expected<launch_request, launch_failure> parse(std::initializer_list<const char*> arguments) {
  strings kept{"vmswitch-run"};
  kept.insert(kept.end(), arguments.begin(), arguments.end());
  std::vector<const char*> argv;
  for (const auto& one : kept)
    argv.push_back(one.c_str());
  return parse_launch(static_cast<int>(argv.size()), argv.data());
}

} // namespace

TEST_CASE("socket and command, with and without -- between them") {
  for (const auto& request :
       {parse({"/s", "qemu", "-m", "1"}), parse({"/s", "--", "qemu", "-m", "1"}),
        parse({"--", "/s", "qemu", "-m", "1"})}) {
    REQUIRE(request.has_value());
    CHECK(request->socket == "/s");
    CHECK(request->command == strings{"qemu", "-m", "1"});
    CHECK(request->text.empty());
  }
}

TEST_CASE("what follows the socket belongs to the command, options and a second -- included") {
  CHECK(parse({"/s", "cmd", "--help", "-v"})->command == strings{"cmd", "--help", "-v"});
  CHECK(parse({"/s", "--", "--", "x"})->command == strings{"--", "x"});
  CHECK(parse({"/s", "--help"})->command == strings{"--help"});
}

TEST_CASE(
    "a socket that is missing, a command that is missing, and unknown options are usage errors") {
  for (const auto& request : {parse({}), parse({"/s"}), parse({"/s", "--"}), parse({"--"}),
                              parse({"--fd=4", "/s", "cmd"}), parse({"-x", "/s", "cmd"})}) {
    REQUIRE_FALSE(request.has_value());
    CHECK(request.error().code == exit_code::usage);
    CHECK(request.error().text.find("usage: vmswitch-run SOCKET [--] CMD") != std::string::npos);
  }
}

TEST_CASE("an argument vector that is empty altogether is a usage error") {
  const char* const none[] = {nullptr};
  CHECK_FALSE(parse_launch(0, none).has_value());
}

TEST_CASE("help and version") {
  CHECK(parse({"-h"})->text == parse({"--help", "/s"})->text);
  CHECK(parse({"-h"})->text.find("fd=3") != std::string::npos);
  CHECK(parse({"-v"})->text.starts_with("vmswitch-run "));
  CHECK(parse({"--version"})->text == parse({"-v"})->text);
}
