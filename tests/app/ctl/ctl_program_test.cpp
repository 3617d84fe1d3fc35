#include "app/ctl/ctl_command.hpp"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include "app/command_info.hpp"
#include "app/ctl/completion.hpp"
#include "tests/app/config_support.hpp"

using namespace vmswitch;

namespace {

// What CLI11 makes of a line; "" if it is understood.
std::string complaint_about(ctl_program& program, const std::string& line) {
  try {
    program.app().parse(line);
  } catch (const CLI::Error& wrong) {
    return wrong.get_name();
  }
  return {};
}

} // namespace

TEST_SUITE("vmswitchctl's command line") {

  TEST_CASE("common options stand before or behind the command") {
    for (const char* line : {"--json --control /x ports -n lab", "ports --network=lab --json "
                                                                 "--control=/x"}) {
      CAPTURE(line);
      ctl_program program;
      CHECK(complaint_about(program, line).empty());
      CHECK(program.json);
      CHECK(program.socket == "/x");
      CHECK(program.chosen() != nullptr);
    }
  }

  TEST_CASE("without a command nothing is chosen") {
    ctl_program program;
    CHECK(complaint_about(program, "--json").empty());
    CHECK(program.chosen() == nullptr);
  }

  TEST_CASE("what is misspelt is refused") {
    for (const char* line : {"port", "ports --netwrok=lab", "ports extra", "--color=red status",
                             "ports -i 0", "log debug info"}) {
      CAPTURE(line);
      ctl_program program;
      CHECK_FALSE(complaint_about(program, line).empty());
    }
  }

  TEST_CASE("a port is set in one of two ways, and in none that contradict each other") {
    for (const char* line : {"port set web --name db --isolate on --up", "port set lab.3 --down",
                             "port set host -n lab --isolate=off --json"}) {
      CAPTURE(line);
      ctl_program program;
      CHECK(complaint_about(program, line).empty());
      CHECK(program.chosen() != nullptr);
    }
    for (const char* line : {"port", "port set", "port set web --up --down",
                             "port set web --isolate maybe", "port set a b --up"}) {
      CAPTURE(line);
      ctl_program program;
      CHECK_FALSE(complaint_about(program, line).empty());
    }
  }

  TEST_CASE("a forward is given in one word or several, and the network before or behind it") {
    for (const char* line :
         {"forward add \"tcp 127.0.0.1:2222 -> web:22\" -n lab", "forward list", "forward rm 2222",
          "forward add -n lab tcp 127.0.0.1:2222 to web:22", "forward rm udp [::1]:53 --json"}) {
      CAPTURE(line);
      ctl_program program;
      CHECK(complaint_about(program, line).empty());
      CHECK(program.chosen() != nullptr);
    }
    for (const char* line : {"forward", "forward add", "forward rm", "forward list web"}) {
      CAPTURE(line);
      ctl_program program;
      CHECK_FALSE(complaint_about(program, line).empty());
    }
  }

  TEST_CASE("every command has a help of its own") {
    ctl_program program;
    for (const auto& command : describe(program.app()).commands) {
      CAPTURE(command.name);
      CHECK_FALSE(command.description.empty());
      for (const auto& option : command.options) {
        CAPTURE(option.names);
        CHECK_FALSE(option.description.empty());
      }
    }
  }

  TEST_CASE("completion knows every command and option, and where values come from") {
    ctl_program program;
    const auto info = describe(program.app());
    for (const char* shell : {"bash", "zsh", "fish"}) {
      CAPTURE(shell);
      const auto script = completion_script(info, shell);
      REQUIRE(script);
      for (const auto& command : info.commands) {
        CHECK(script->find(command.name) != std::string::npos);
        for (const auto& option : command.options)
          for (const auto& name : option.names)
            if (name.starts_with("--"))
              CHECK(script->find(name.substr(2)) != std::string::npos);
      }
      CHECK(script->find("vmswitchctl names networks") != std::string::npos);
      CHECK(script->find("always") != std::string::npos);
      CHECK(script->find("names KIND") == std::string::npos); // that one is hidden
    }
    CHECK_FALSE(completion_script(info, "tcsh"));
  }

} // TEST_SUITE
