#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp> // command lines with help and checks
#include <fmt/format.h>
#include <unistd.h>

#include "app/control/control_path.hpp"
#include "app/ctl/ctl_command.hpp"
#include "app/version.hpp"

namespace vmswitch {

namespace {

bool wants_colour(const std::string& choice, bool is_terminal) {
  if (choice != "auto")
    return choice == "always";
  const char* no_colour = std::getenv("NO_COLOR"); // no-color.org
  const char* terminal = std::getenv("TERM");
  return is_terminal && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string_view{terminal} != "dumb");
}

int usage_error(const std::string& text) {
  std::fprintf(stderr, "vmswitchctl: %s\n\"vmswitchctl --help\" lists the commands\n",
               text.c_str());
  return static_cast<int>(exit_code::usage);
}

} // namespace

ctl_program::ctl_program()
    : app_{std::make_unique<CLI::App>("vmswitchctl: looks into a running vmswitchd, and changes it",
                                      "vmswitchctl")},
      commands_{all_ctl_commands()} {
  app_->set_help_flag("-h,--help", "Print this help and exit");
  app_->add_flag("-v,--version", version, "Print the version and exit");
  app_->add_option("--control", socket,
                   "The daemon's control socket; default: VMSWITCH_CONTROL, or where a daemon of "
                   "this user or of the system has it")
      ->type_name("PATH");
  app_->add_flag("--json", json, "Print the daemon's answer as it is");
  app_->add_option("--color", colour, "auto (on a terminal, unless NO_COLOR is set), always, never")
      ->type_name("WHEN")
      ->check(CLI::IsMember{{"auto", "always", "never"}});
  app_->fallthrough(); // common options may also stand behind the command
  for (const auto& each : commands_)
    each->declare(*app_);
}

ctl_program::~ctl_program() = default;

ctl_command* ctl_program::chosen() const {
  for (const auto& each : commands_)
    if (each->chosen())
      return each.get();
  return nullptr;
}

int run_ctl(int argc, const char* const* argv) {
  ctl_program program;
  try { // CLI11 reports by exceptions; this is as far as they get
    program.app().parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto* called = &program.app();
    std::string before; // the names that lead to it
    while (!called->get_subcommands().empty()) {
      before += (before.empty() ? "" : " ") + called->get_name();
      called = called->get_subcommands().front();
    }
    std::fputs(called->help(before).c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& wrong) {
    return usage_error(wrong.what());
  }
  if (program.version) {
    std::printf("vmswitchctl %s\n", std::string{version()}.c_str());
    return 0;
  }
  auto* const command = program.chosen();
  if (command == nullptr)
    return usage_error("what is to be done? For a start: vmswitchctl status");
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  const ctl_context context{
      control_client{program.socket.empty() ? find_control_socket() : program.socket}, program.json,
      wants_colour(program.colour, is_terminal), is_terminal, [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
      }};
  if (const auto done = command->run(context); !done) {
    std::fprintf(stderr, "vmswitchctl: %s\n", done.error().text.c_str());
    return static_cast<int>(done.error().code);
  }
  // A full disk, or a reader that has gone.
  return std::ferror(stdout) != 0 ? static_cast<int>(exit_code::os_error) : 0;
}

} // namespace vmswitch
