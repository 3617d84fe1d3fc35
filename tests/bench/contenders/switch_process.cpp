#include "tests/bench/contenders/switch_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <sys/socket.h>
#include <unistd.h>

#include "transport/bind_path.hpp"

namespace vmswitch::bench {

using namespace std::chrono_literals;

result<owned_fd> bind_at(const std::string& path, int type) {
  const auto address = unix_address::from_path(path);
  if (!address)
    return tl::unexpected{address.error()};
  owned_fd socket{::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
  if (!socket)
    return fail_errno("socket", errno);
  if (auto bound = bind_path(socket.get(), type, *address); !bound)
    return tl::unexpected{bound.error()};
  if (type == SOCK_STREAM && ::listen(socket.get(), SOMAXCONN) != 0)
    return fail_errno("listening at " + path, errno);
  return socket;
}

result<private_folder> private_folder::create() {
  const char* const base = std::getenv("TMPDIR");
  std::string path = std::string{base != nullptr ? base : "/tmp"} + "/vmswitch-bench-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return fail_errno("creating a folder like " + path, errno);
  return private_folder{std::move(path)};
}

private_folder::~private_folder() {
  std::error_code ignored;
  if (!path_.empty())
    std::filesystem::remove_all(path_, ignored);
}

result<switch_process> start_ready(const switch_process::plan& how,
                                   const std::vector<std::string>& signs) {
  auto started = switch_process::start(how);
  if (!started)
    return started;
  std::error_code ignored;
  const auto there = [&](const std::string& sign) {
    return std::filesystem::exists(sign, ignored) &&
           (!std::filesystem::is_regular_file(sign, ignored) ||
            std::filesystem::file_size(sign, ignored) > 0);
  };
  const auto ready = [&] { return std::all_of(signs.begin(), signs.end(), there); };
  const bool waited = test::poll_until([&] { return ready() || started->wait(); },
                                       switch_process::clock::now() + 30s);
  if (!waited)
    return fail(how.command[0] + " was not ready within 30 s");
  if (started->wait())
    return fail(how.command[0] + " ended before it was ready: " + started->error_output());
  return started;
}

std::string program_path(const std::string& name) {
  std::istringstream folders{std::string{std::getenv("PATH") ? std::getenv("PATH") : ""} +
                             ":/usr/sbin:/sbin"};
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string path = folder + "/" + name; ::access(path.c_str(), X_OK) == 0)
      return path;
  return {};
}

} // namespace vmswitch::bench
