#include "vmnet/tap/bridge_helper.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT(readability-redundant-declaration): not declared everywhere

namespace vmswitch {

namespace {

constexpr std::array usual_places{"/usr/lib/qemu/qemu-bridge-helper",
                                  "/usr/libexec/qemu-bridge-helper", "/usr/lib/qemu-bridge-helper"};
constexpr int patience_ms = 5000;
constexpr int child_fd = 3; // what the helper finds its socket at

std::string find_helper() {
  for (const auto* place : usual_places)
    if (::access(place, X_OK) == 0)
      return place;
  return {};
}

owned_fd receive_fd(int socket) {
  std::byte byte{};
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
    return {};
  const auto* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
    return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return owned_fd{fd};
}

// What it says when it refuses, as one line.
std::string said_by(int pipe) {
  std::array<char, 300> text{};
  ::fcntl(pipe, F_SETFL, O_NONBLOCK);
  const ssize_t got = ::read(pipe, text.data(), text.size());
  std::string said{text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  said.resize(said.find_last_not_of(" \n") + 1);
  for (char& c : said)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  return said.empty() ? "it said nothing" : said;
}

} // namespace

result<owned_fd> tap_from_helper(const std::string& program, const std::string& bridge) {
  const std::string path = program.empty() ? find_helper() : program;
  if (path.empty())
    return fail("qemu-bridge-helper is not installed", ENOENT);
  std::array<int, 2> sockets{};
  std::array<int, 2> pipe{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return fail_errno("cannot make a socket pair", errno);
  const owned_fd ours{sockets[0]};
  owned_fd theirs{sockets[1]};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    return fail_errno("cannot make a pipe", errno);
  const owned_fd errors{pipe[0]};
  owned_fd their_errors{pipe[1]};

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, their_errors.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), child_fd);
  std::string bridge_option = fmt::format("--br={}", bridge);
  std::string fd_option = fmt::format("--fd={}", child_fd);
  std::string name = path;
  const std::array<char*, 4> arguments{name.data(), bridge_option.data(), fd_option.data(),
                                       nullptr};
  pid_t child = 0;
  const int code =
      ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  theirs.reset();
  their_errors.reset();
  if (code != 0)
    return fail_errno(fmt::format("cannot run {}", path), code);

  pollfd waiting{ours.get(), POLLIN, 0};
  const bool answered = ::poll(&waiting, 1, patience_ms) == 1;
  owned_fd tap = answered ? receive_fd(ours.get()) : owned_fd{};
  if (!answered)
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answered)
    return fail(fmt::format("{} did not answer within {} s", path, patience_ms / 1000), ETIMEDOUT);
  if (!tap)
    return fail(fmt::format("{} gave us no TAP: {}", path, said_by(errors.get())), EPERM);
  return tap;
}

} // namespace vmswitch
