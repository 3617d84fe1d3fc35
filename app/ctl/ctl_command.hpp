#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/ctl/control_client.hpp"

namespace CLI {
class App;
}

namespace vmswitch {

/// Where a command runs.
struct ctl_context {
  control_client client;
  bool json = false;
  bool colour = false;
  bool is_terminal = false; // stdout
  std::function<void(std::string_view)> print;
};

/// One command of vmswitchctl. Its options are declared to CLI11 and nowhere else: help,
/// completion and the manual page are made from them.
class ctl_command {
public:
  virtual ~ctl_command() = default;
  /// Adds itself to `program`.
  virtual void declare(CLI::App& program) = 0;
  /// Whether it is the one that was called.
  virtual bool chosen() const = 0;
  /// Prints by itself; the failure is for stderr.
  virtual client_result<void> run(const ctl_context& context) = 0;
};

/// All of them, in the order of the help.
std::vector<std::unique_ptr<ctl_command>> all_ctl_commands();

/// The program with its common options and all commands. What is parsed ends up in here; not to be
/// moved.
class ctl_program {
public:
  ctl_program();
  ctl_program(const ctl_program&) = delete;
  ~ctl_program();

  CLI::App& app() noexcept { return *app_; }
  /// Null if none was called.
  ctl_command* chosen() const;

  std::string socket;
  std::string colour = "auto";
  bool json = false;
  bool version = false;

private:
  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<ctl_command>> commands_;
};

/// The whole program: parses, calls, prints. Returns the exit code.
int run_ctl(int argc, const char* const* argv);

} // namespace vmswitch
