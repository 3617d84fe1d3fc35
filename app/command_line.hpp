#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "app/command_info.hpp"
#include "app/exit_code.hpp"
#include "app/settings.hpp"
#include "transport/error.hpp"

namespace vmswitch {

enum class daemon_action : std::uint8_t {
  run,
  print, ///< write `text` to stdout and exit with 0: help, version, the result of --check
};

/// What vmswitchd is to do.
struct command_line {
  daemon_action action = daemon_action::run;
  std::string text;
  daemon_settings settings;         // valid unless action is print
  std::vector<std::string> notes{}; // what was accepted but changes nothing, for the user
};

/// Why it cannot: lines for stderr (all mistakes at once) and the exit code.
struct command_line_failure {
  exit_code code = exit_code::usage;
  std::vector<std::string> messages;
};

/// Reads a configuration file; see read_text_file().
using file_reader = std::function<result<std::string>(const std::string& path)>;

/// Understands `vmswitchd [options] [SOCKET]`.
///
/// The configuration is the file of --config, or else one network "default" with a stream socket
/// at SOCKET. Options are laid over it: --vmnet-mode holds for every network, --socket-group and
/// --socket-mode for every socket, SOCKET replaces the path of a file's only socket (and is an
/// error if the file has several). --vmnet-gateway replaces subnet and DHCP range of the only
/// network: DHCP begins behind the gateway and ends at .254, unless --vmnet-dhcp-end says
/// otherwise. Of an option that is given twice the last one counts. Called by the name
/// socket_vmnet, it has the mode `shared` where none is given. Networks that name no lease file
/// have one in `state_folder`, if that is not empty. `usual_control` is where the control socket is
/// unless something else is said. Relative paths on the command line start at the working
/// directory. The system is touched through `read` only. Thread: any, nothing is kept.
tl::expected<command_line, command_line_failure>
parse_command_line(int argc, const char* const* argv, const file_reader& read,
                   const std::string& state_folder = {}, const std::string& usual_control = {});

/// The same with files read from the system, and $STATE_DIRECTORY (systemd.exec) as the state
/// folder; of several folders in it the first.
tl::expected<command_line, command_line_failure> parse_command_line(int argc,
                                                                    const char* const* argv);

/// What the same command line means by now, for a daemon that runs: its file may have changed. On
/// any thread, as long as nobody changes the environment. All mistakes, a line each.
tl::expected<daemon_settings, std::vector<std::string>>
read_settings_again(int argc, const char* const* argv);

/// The options themselves, for the manual page.
command_info describe_vmswitchd();

} // namespace vmswitch
