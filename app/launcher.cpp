#include "app/launcher.hpp"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "app/program_name.hpp"
#include "app/version.hpp"
#include "transport/connect.hpp"
#include "transport/error.hpp"

namespace vmswitch {

namespace {

constexpr std::string_view help = R"(Usage: {0} [options] SOCKET [--] CMD [ARGUMENT]...

Connects to the stream socket of a running vmswitchd and runs CMD with the
connection as file descriptor 3. For example:

  {0} /tmp/vm.sock qemu-system-x86_64 -m 1024 disk.qcow2 \
      -netdev socket,id=net0,fd=3 -device virtio-net-pci,netdev=net0

  -h, --help     Print this help and exit
  -v, --version  Print the version and exit

Exit code: that of CMD; 64 wrong usage, 69 no daemon at SOCKET,
77 no permission, 126 CMD cannot run, 127 CMD not found.
)";

tl::unexpected<launch_failure> usage_error(std::string_view program, std::string_view what) {
  return tl::unexpected{launch_failure{
      exit_code::usage, fmt::format("{}\nusage: {} SOCKET [--] CMD [ARGUMENT]...", what, program)}};
}

exit_code connect_failure(int code) {
  switch (code) {
  case EACCES:
  case EPERM:
    return exit_code::no_permission;
  case 0: // the path cannot be one
    return exit_code::usage;
  default:
    return exit_code::unavailable;
  }
}

} // namespace

tl::expected<launch_request, launch_failure> parse_launch(int argc, const char* const* argv) {
  const auto program = program_name(argc, argv, "vmswitch-run");
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  auto next = arguments.begin();
  for (; next != arguments.end() && next->size() > 1 && next->starts_with('-'); ++next) {
    if (*next == "--") {
      ++next;
      break;
    }
    if (*next == "-h" || *next == "--help")
      return launch_request{{}, {}, fmt::format(help, program)};
    if (*next == "-v" || *next == "--version")
      return launch_request{{}, {}, fmt::format("vmswitch-run {}\n", version())};
    return usage_error(program, fmt::format("there is no option {}", *next));
  }
  if (next == arguments.end())
    return usage_error(program, "the socket of the daemon is missing");
  launch_request request;
  request.socket = *next++;
  if (next != arguments.end() && *next == "--")
    ++next;
  request.command.assign(next, arguments.end());
  if (request.command.empty())
    return usage_error(program, "the command to run is missing");
  return request;
}

int move_to_launcher_fd(owned_fd connection) noexcept {
  if (connection.get() != launcher_fd) // dup2 leaves close-on-exec off, but not onto itself
    return ::dup2(connection.get(), launcher_fd) < 0 ? errno : 0;
  return ::fcntl(connection.release(), F_SETFD, 0) < 0 ? errno : 0;
}

launch_failure launch(const launch_request& request) {
  auto connection = connect_stream(request.socket);
  if (!connection) {
    const auto code = connect_failure(connection.error().code);
    const auto advice = code == exit_code::unavailable
                            ? fmt::format("\nstart it with: vmswitchd {}", request.socket)
                            : std::string{};
    return {code, connection.error().text + advice};
  }
  if (const int code = move_to_launcher_fd(std::move(*connection)); code != 0)
    return {exit_code::os_error, fail_errno("cannot make descriptor 3", code).value().text};

  std::vector<char*> arguments;
  for (const auto& argument : request.command)
    arguments.push_back(const_cast<char*>(argument.c_str())); // execvp does not write to them
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int code = errno;
  return {code == ENOENT ? exit_code::not_found : exit_code::not_executable,
          fail_errno(fmt::format("cannot run \"{}\"", request.command[0]), code).value().text};
}

} // namespace vmswitch
