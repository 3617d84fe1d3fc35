#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "app/exit_code.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// The descriptor that the command finds its network in: `-netdev socket,fd=3`.
inline constexpr int launcher_fd = 3;

/// What `vmswitch-run SOCKET [--] CMD...` asks for.
struct launch_request {
  std::string socket;
  std::vector<std::string> command; // not empty, unless `text` is to be printed
  std::string text;                 // help or version: print it and exit with 0
};

struct launch_failure {
  exit_code code = exit_code::usage;
  std::string text;
};

/// Options stand before SOCKET; what follows is the command's own. Usage and help name the program
/// as it was called. Pure.
tl::expected<launch_request, launch_failure> parse_launch(int argc, const char* const* argv);

/// Puts `connection` at descriptor 3 where exec leaves it, whatever number it has now. What was at
/// 3 before is closed.
/// Only for a process that is about to exec. Returns 0 or errno.
int move_to_launcher_fd(owned_fd connection) noexcept;

/// Connects to the socket and becomes the command. Returns only if that failed.
launch_failure launch(const launch_request& request);

} // namespace vmswitch
