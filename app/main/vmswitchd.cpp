#include <cstdio>

#include <spdlog/spdlog.h>

#include "app/command_line.hpp"
#include "app/daemon.hpp"
#include "app/logging.hpp"
#include "app/socket_activation.hpp"

int main(int argc, char** argv) {
  using namespace vmswitch;
  prepare_signals();
  auto parsed = parse_command_line(argc, argv);
  if (!parsed) {
    for (const auto& message : parsed.error().messages)
      std::fprintf(stderr, "%s\n", message.c_str());
    return static_cast<int>(parsed.error().code);
  }
  if (parsed->action == daemon_action::print) {
    for (const auto& note : parsed->notes)
      std::fprintf(stderr, "%s\n", note.c_str());
    std::fputs(parsed->text.c_str(), stdout);
    return 0;
  }
  setup_logging(parsed->settings.log);
  for (const auto& note : parsed->notes)
    spdlog::warn("{}", note);
  if (const auto taken = take_passed_sockets(parsed->settings); !taken) {
    spdlog::error("{}", taken.error().text);
    return static_cast<int>(exit_code::config);
  }
  const auto load = [argc, argv, passed = parsed->settings.passed]()
      -> tl::expected<daemon_settings, std::vector<std::string>> {
    auto next = read_settings_again(argc, argv);
    if (!next)
      return next;
    next->passed = passed; // they are ours for as long as we run
    if (const auto assigned = assign_sockets(*next); !assigned)
      return tl::unexpected{std::vector{assigned.error().text}};
    return next;
  };
  return static_cast<int>(run_daemon(parsed->settings, load));
}
