#include "transport/listening_socket.hpp"

#include <cassert>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "transport/bind_path.hpp"
#include "transport/descriptor_reserve.hpp"
#include "transport/unix_socket.hpp"

namespace vmswitch {

namespace {

constexpr int most_aborted = 64; // connections that one accept() passes over

result<gid_t> find_group(const std::string& name) {
  std::vector<char> buffer(1024);
  group entry{};
  group* found = nullptr;
  int code = 0;
  while ((code = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found)) ==
             ERANGE &&
         buffer.size() < (std::size_t{1} << 20))
    buffer.resize(buffer.size() * 2);
  if (found)
    return found->gr_gid;
  if (code != 0 && code != ENOENT && code != ESRCH)
    return fail_errno(fmt::format("cannot look up the group {}", name), code);
  return fail(
      fmt::format("there is no group named {}: choose one of yours (see: id -Gn), or create "
                  "it (sudo groupadd {})",
                  name, name));
}

mode_t mode_of(const listen_config& config) {
  return config.mode.value_or(config.group ? 0660 : 0600);
}

result<void> set_permissions(const std::string& path, const listen_config& config, gid_t group) {
  if (config.group && ::lchown(path.c_str(), static_cast<uid_t>(-1), group) != 0) {
    if (errno != EPERM)
      return fail_errno(fmt::format("cannot give {} to the group {}", path, *config.group), errno);
    return fail(fmt::format("cannot give {} to the group {}: this user is not a member (sudo "
                            "usermod -aG {} USER, then log in again)",
                            path, *config.group, *config.group),
                EPERM);
  }
  const mode_t mode = mode_of(config);
  if (::fchmodat(AT_FDCWD, path.c_str(), mode, AT_SYMLINK_NOFOLLOW) != 0)
    return fail_errno(fmt::format("cannot set the mode of {} to {:04o}", path, mode), errno);
  return {};
}

int socket_type(listen_type type) {
  return type == listen_type::stream ? SOCK_STREAM : SOCK_DGRAM;
}

// Non-blocking; one for datagrams tells who sends, from the first one on.
owned_fd make_socket(listen_type type) {
  owned_fd socket = open_unix_socket(socket_type(type), blocking::no);
  if (socket && type == listen_type::dgram && identify_senders(socket.get(), true) != 0)
    socket.reset();
  return socket;
}

// Why a descriptor is no socket for us; empty if it is one.
std::string unfit(int fd, listen_type type) {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return errno == ENOTSOCK ? "it is no socket" : "it is not open";
  if (address.sun_family != AF_UNIX)
    return "it is no Unix socket";
  const auto option = [&](int name) {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  const bool is_stream = type == listen_type::stream;
  if (option(SO_TYPE) != socket_type(type))
    return is_stream ? "it is not of type stream" : "it is not of type dgram";
  return is_stream && option(SO_ACCEPTCONN) == 0 ? "it does not listen" : "";
}

// A name in the same folder, as long as `path`, so that it fits wherever that does.
std::string sibling(std::string path, std::size_t attempt) {
  path.back() = "~0123456789"[attempt];
  return path;
}
constexpr std::size_t siblings = 11;

} // namespace

listening_socket::listening_socket(owned_fd socket, const listen_config& config, gid_t group)
    : socket_{std::move(socket)}, config_{config}, group_{group} {
  struct stat status {};
  if (::lstat(config.path.c_str(), &status) != 0)
    return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(config.path, failure);
  file_ = failure ? config.path : absolute.native();
}

result<listening_socket> listening_socket::open(const listen_config& config) {
  const auto address = unix_address::from_path(config.path);
  if (!address)
    return tl::unexpected{address.error()};
  if (config.inherited)
    return adopt(config);
  gid_t group = 0;
  if (config.group) {
    const auto found = find_group(*config.group);
    if (!found)
      return tl::unexpected{found.error()};
    group = *found;
  }
  owned_fd socket = make_socket(config.type);
  if (!socket)
    return fail_errno("cannot make a socket", errno);
  if (auto bound = bind_path(socket.get(), socket_type(config.type), *address); !bound)
    return tl::unexpected{bound.error()};
  return set_up(std::move(socket), config, group);
}

result<listening_socket> listening_socket::adopt(const listen_config& config) {
  if (const auto why = unfit(*config.inherited, config.type); !why.empty())
    return fail(fmt::format("descriptor {}, which was passed for {}, cannot be used: {}",
                            *config.inherited, config.path, why),
                EINVAL);
  owned_fd own{::fcntl(*config.inherited, F_DUPFD_CLOEXEC, 0)};
  const int flags = own ? ::fcntl(own.get(), F_GETFL) : -1;
  if (flags < 0 || ::fcntl(own.get(), F_SETFL, flags | O_NONBLOCK) < 0 ||
      (config.type == listen_type::dgram && identify_senders(own.get(), true) != 0))
    return fail_errno(fmt::format("cannot use the socket that was passed for {}", config.path),
                      errno);
  listening_socket adopted{std::move(own), config, 0};
  adopted.file_.clear();
  return adopted;
}

result<listening_socket> listening_socket::set_up(owned_fd bound, const listen_config& config,
                                                  gid_t group) {
  listening_socket opened{std::move(bound), config, group};
  // At once: until it listens, another process would take the file for a stale one.
  if (config.type == listen_type::stream && ::listen(opened.fd(), SOMAXCONN) != 0)
    return fail_errno(fmt::format("cannot listen on {}", config.path), errno);
  if (auto set = set_permissions(config.path, config, group); !set)
    return tl::unexpected{set.error()};
  return opened;
}

result<void> listening_socket::renew() {
  assert(config_.type == listen_type::dgram); // a stream's waiting connections would be lost
  if (!owns_file())
    return fail(fmt::format("the file {} is no longer this socket's", config_.path));
  listen_config beside = config_;
  for (std::size_t attempt = 0; attempt < siblings; ++attempt) {
    beside.path =
        sibling(file_.size() <= unix_address::longest_path ? file_ : config_.path, attempt);
    const auto address = unix_address::from_path(beside.path);
    owned_fd socket = make_socket(config_.type);
    if (!socket)
      return fail_errno("cannot make a socket", errno);
    if (bind_unix_socket(socket.get(), *address) != 0) {
      if (errno == EADDRINUSE)
        continue; // not ours to remove, whatever it is
      return fail_errno(fmt::format("cannot make the socket {}", beside.path), errno);
    }
    auto fresh = set_up(std::move(socket), beside, group_);
    if (!fresh)
      return tl::unexpected{fresh.error()};
    if (::rename(fresh->file_.c_str(), file_.c_str()) != 0)
      return fail_errno(fmt::format("cannot put a new socket at {}", file_), errno);
    fresh->file_.clear();
    socket_ = std::move(fresh->socket_);
    device_ = fresh->device_;
    inode_ = fresh->inode_;
    return {};
  }
  return fail(fmt::format("no name is left for a new socket beside {}", file_), EADDRINUSE);
}

accept_result listening_socket::accept(may_take descriptors) noexcept {
  if (descriptors == may_take::all_but_reserve && only_reserve_left(fd())) {
    pollfd waiting{fd(), POLLIN, 0};
    if (::poll(&waiting, 1, 0) > 0)
      return {accept_status::pressure, {}, EMFILE};
    return {};
  }
  for (int i = 0; i < most_aborted; ++i) {
    owned_fd connection = accept_unix_socket(socket_.get());
    if (connection)
      return {accept_status::accepted, std::move(connection), 0};
    const int code = errno;
    if (code == EAGAIN)
      return {};
    if (code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM)
      return {accept_status::pressure, {}, code};
    if (code != ECONNABORTED && code != EINTR && code != EPROTO && code != EPERM)
      return {accept_status::failed, {}, code};
  }
  return {accept_status::pressure, {}, ECONNABORTED};
}

result<void> listening_socket::change_access(const listen_config& access) {
  if (!owns_file())
    return fail(fmt::format("the file {} is no longer this socket's", config_.path));
  gid_t group = ::getegid(); // a new file's
  if (access.group) {
    const auto found = find_group(*access.group);
    if (!found)
      return tl::unexpected{found.error()};
    group = *found;
  }
  auto changed = config_;
  changed.group = access.group;
  changed.mode = access.mode;
  // Nobody of the old group may come in by the new mode, nor the other way round.
  const mode_t common = mode_of(config_) & mode_of(changed);
  if (::fchmodat(AT_FDCWD, file_.c_str(), common, AT_SYMLINK_NOFOLLOW) != 0)
    return fail_errno(fmt::format("cannot set the mode of {}", config_.path), errno);
  const bool returns = config_.group && !access.group;
  if (returns && ::lchown(file_.c_str(), static_cast<uid_t>(-1), group) != 0)
    return fail_errno(fmt::format("cannot give {} back to its own group", config_.path), errno);
  if (auto set = set_permissions(file_, changed, group); !set) {
    static_cast<void>(set_permissions(file_, config_, group_));
    return set;
  }
  config_ = std::move(changed);
  group_ = group;
  return {};
}

void listening_socket::withdraw() noexcept {
  if (owns_file())
    ::unlink(file_.c_str());
  file_.clear();
}

bool listening_socket::owns_file() const noexcept {
  // As long as our descriptor is open the inode exists, so its number cannot be another file's.
  struct stat status {};
  return !file_.empty() && ::lstat(file_.c_str(), &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

} // namespace vmswitch
