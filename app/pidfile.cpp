#include "app/pidfile.hpp"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace vmswitch {

namespace {

bool is_same_file(int fd, const std::string& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(fd, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

// What is in the file if it is a pidfile: digits and a newline, or nothing at all.
std::optional<std::string> read_pid(int fd) {
  char content[32];
  const auto count = ::pread(fd, content, sizeof content, 0);
  if (count < 0 || count == sizeof content)
    return {};
  std::string_view text{content, static_cast<std::size_t>(count)};
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  const auto behind = text.substr(digits.size());
  if (behind.find_first_not_of(" \r\n") != std::string_view::npos ||
      (digits.empty() && !text.empty()))
    return {};
  return std::string{digits};
}

tl::unexpected<error> not_a_pidfile(const std::string& path) {
  return fail(
      fmt::format("\"{}\" is there and is no pidfile: it is left alone, choose another path "
                  "or remove it",
                  path),
      EEXIST);
}

tl::unexpected<error> taken(const std::string& path, int fd) {
  const auto pid = read_pid(fd).value_or("");
  return fail(fmt::format("process {} is running with pidfile \"{}\": stop it first, or choose "
                          "another path",
                          pid.empty() ? "(unknown)" : pid, path),
              EEXIST);
}

// That the file can be made is only seen when VMs are there already.
result<void> check_folder(const std::string& path) {
  const auto parent = std::filesystem::path{path}.parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0)
    return {};
  const int code = errno;
  if (code == ENOENT)
    return fail(
        fmt::format("cannot create pidfile \"{0}\": the folder {1} does not exist (create it "
                    "with: mkdir -p {1})",
                    path, folder),
        code);
  return fail_errno(fmt::format("cannot create pidfile \"{}\"", path), code);
}

// A daemon that starts or stops at the same moment may swap the file under our hands; after that
// many rounds something else is wrong.
constexpr int most_rounds = 10;

} // namespace

result<pidfile> pidfile::acquire(std::string path) {
  for (int round = 0; round < most_rounds; ++round) {
    // Non-blocking, since a FIFO without a writer would hold us.
    const owned_fd fd{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (!fd && errno == ENOENT) {
      if (auto able = check_folder(path); !able)
        return tl::unexpected{std::move(able.error())};
      return pidfile{std::move(path)};
    }
    if (!fd && (errno == ELOOP || errno == ENXIO))
      return not_a_pidfile(path);
    if (!fd)
      return fail_errno(fmt::format("cannot look at pidfile \"{}\"", path), errno);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
      return not_a_pidfile(path);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        return taken(path, fd.get());
      return fail_errno(fmt::format("cannot lock pidfile \"{}\"", path), errno);
    }
    if (!is_same_file(fd.get(), path))
      continue;
    if (!read_pid(fd.get()))
      return not_a_pidfile(path);
    if (::unlink(path.c_str()) != 0)
      return fail_errno(fmt::format("cannot remove stale pidfile \"{}\"", path), errno);
    return pidfile{std::move(path)};
  }
  return fail(fmt::format("pidfile \"{}\" keeps changing: are several daemons starting?", path),
              EBUSY);
}

result<void> pidfile::publish() {
  const auto content = fmt::format("{}\n", ::getpid());
  const auto draft = fmt::format("{}.new.{}", path_, ::getpid());
  ::unlink(draft.c_str()); // of a namesake that was killed
  owned_fd fd{::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)};
  if (!fd)
    return fail_errno(fmt::format("cannot create pidfile \"{}\"", path_), errno);
  const bool written =
      ::write(fd.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
  const int linked = written ? ::link(draft.c_str(), path_.c_str()) : -1;
  const int code = errno;
  ::unlink(draft.c_str());
  if (linked == 0) {
    lock_ = std::move(fd);
    return {};
  }
  if (code == EEXIST) {
    const owned_fd other{::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    return taken(path_, other.get());
  }
  return fail_errno(fmt::format("cannot write pidfile \"{}\"", path_), code);
}

pidfile::~pidfile() {
  if (lock_ && is_same_file(lock_.get(), path_))
    ::unlink(path_.c_str());
}

} // namespace vmswitch
