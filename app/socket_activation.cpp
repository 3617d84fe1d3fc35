#include "app/socket_activation.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/setting_values.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

namespace {

constexpr int first_fd = 3; // SD_LISTEN_FDS_START
constexpr std::int64_t most_fds = 16384;

// What can be known of a descriptor.
struct seen_socket {
  std::optional<listen_type> type;
  std::string path; // empty if it has none
};

seen_socket look_at(int fd) {
  seen_socket seen;
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      address.sun_family != AF_UNIX)
    return seen;
  int type = 0;
  socklen_t size = sizeof type;
  ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
  if (type == SOCK_STREAM)
    seen.type = listen_type::stream;
  else if (type == SOCK_DGRAM)
    seen.type = listen_type::dgram;
  const auto name = unix_address::name_in(address, length);
  if (!name.empty() && name[0] != '\0')
    seen.path = name;
  return seen;
}

// The folder's links are followed (/var/run is one), the socket's name is taken as it is.
std::filesystem::path comparable(const std::filesystem::path& path) {
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(path, failure).lexically_normal();
  const auto folder = std::filesystem::canonical(absolute.parent_path(), failure);
  return failure ? absolute : folder / absolute.filename();
}

listen_config* listener_at(daemon_settings& settings, const seen_socket& seen) {
  if (seen.path.empty())
    return nullptr;
  for (auto& network : settings.networks)
    for (auto& listener : network.listeners)
      if (listener.type == seen.type && comparable(listener.path) == comparable(seen.path))
        return &listener;
  return nullptr;
}

// The only one of its type in the network of this name.
listen_config* listener_named(daemon_settings& settings, const seen_socket& seen,
                              const std::string& name) {
  listen_config* found = nullptr;
  for (auto& network : settings.networks) {
    if (network.name != name)
      continue;
    for (auto& listener : network.listeners) {
      if (listener.type != seen.type)
        continue;
      if (found != nullptr)
        return nullptr;
      found = &listener;
    }
  }
  return found;
}

bool is_tap(const daemon_settings& settings, int fd) {
  return std::ranges::any_of(settings.networks,
                             [&](const auto& network) { return network.host.tap_fd == fd; });
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> take_variable(const char* name) {
  const char* value = std::getenv(name); // no other thread is there yet
  std::optional<std::string> taken;
  if (value != nullptr)
    taken = value;
  ::unsetenv(name);
  return taken;
}

} // namespace

result<std::vector<passed_socket>> passed_sockets(const activation_environment& environment,
                                                  int own_pid) {
  std::vector<passed_socket> passed;
  if (!environment.pid || !environment.fds)
    return passed;
  if (*environment.pid != fmt::to_string(own_pid))
    return passed; // for another process, from which we have inherited it
  const auto count = parse_integer(*environment.fds, 0, most_fds);
  if (!count)
    return fail("LISTEN_FDS: " + count.error().text);
  auto names = split(environment.names.value_or(""), ':');
  names.resize(static_cast<std::size_t>(*count));
  for (auto& name : names)
    passed.push_back({first_fd + static_cast<int>(passed.size()), std::move(name)});
  return passed;
}

result<void> assign_sockets(daemon_settings& settings) {
  for (const auto& passed : settings.passed) {
    if (is_tap(settings, passed.fd))
      continue;
    const auto seen = look_at(passed.fd);
    const auto what = fmt::format("descriptor {} ({}) that the service manager has passed",
                                  passed.fd, seen.path.empty() ? passed.name : seen.path);
    if (!seen.type)
      return fail(fmt::format("{} is no Unix socket of type stream or datagram: have the .socket "
                              "unit listen with ListenStream= or ListenDatagram= at a path",
                              what));
    auto* listener = listener_at(settings, seen);
    if (listener == nullptr)
      listener = listener_named(settings, seen, passed.name);
    if (listener == nullptr)
      return fail(
          fmt::format("{} is for none of the configured sockets: give one of type {} this "
                      "path, or name the network by FileDescriptorName= in the .socket unit",
                      what, to_string(*seen.type)));
    if (listener->inherited)
      return fail(fmt::format("{} is the second one for {}", what, listener->path));
    listener->inherited = passed.fd;
  }
  return {};
}

result<void> take_passed_sockets(daemon_settings& settings) {
  const activation_environment environment{take_variable("LISTEN_PID"), take_variable("LISTEN_FDS"),
                                           take_variable("LISTEN_FDNAMES")};
  auto passed = passed_sockets(environment, ::getpid());
  if (!passed)
    return tl::unexpected{std::move(passed.error())};
  settings.passed = std::move(*passed);
  for (const auto& each : settings.passed)
    if (::fcntl(each.fd, F_SETFD, FD_CLOEXEC) < 0)
      return fail_errno(fmt::format("LISTEN_FDS names descriptor {}", each.fd), errno);
  return assign_sockets(settings);
}

} // namespace vmswitch
