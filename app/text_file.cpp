#include "app/text_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/owned_fd.hpp"

namespace vmswitch {

namespace {

constexpr int patience_ms = 5000;

// A pipe (the shell's "<(command)" is one) has to have a writer soon; from then on its reads wait.
result<void> await_writer(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode))
    return {};
  pollfd watched{fd, POLLIN, 0};
  int ready;
  do
    ready = ::poll(&watched, 1, patience_ms);
  while (ready < 0 && errno == EINTR);
  if (ready == 0)
    return fail(fmt::format("\"{}\" is a pipe that nobody writes to", path), ETIMEDOUT);
  if (const int flags = ::fcntl(fd, F_GETFL);
      ready < 0 || flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
    return fail_errno(fmt::format("cannot read \"{}\"", path), errno);
  return {};
}

result<std::string> read_all(const owned_fd& fd, const std::string& path, std::size_t most) {
  std::string text;
  char piece[16384];
  for (;;) {
    const auto count = ::read(fd.get(), piece, sizeof piece);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail_errno(fmt::format("cannot read \"{}\"", path), errno);
    if (count == 0)
      return text;
    text.append(piece, static_cast<std::size_t>(count));
    if (text.size() > most)
      return fail(fmt::format("\"{}\" has more than {} bytes", path, most), EFBIG);
  }
}

} // namespace

result<std::string> read_text_file(const std::string& path, std::size_t most) {
  // Non-blocking, since a FIFO without a writer would hold us.
  const owned_fd fd{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (!fd)
    return fail_errno(fmt::format("cannot read \"{}\"", path), errno);
  if (auto written = await_writer(fd.get(), path); !written)
    return tl::unexpected{std::move(written.error())};
  return read_all(fd, path, most);
}

result<std::string> read_regular_file(const std::string& path, std::size_t most) {
  const owned_fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0)
    return fail_errno(fmt::format("cannot read \"{}\"", path), errno);
  if (!S_ISREG(status.st_mode))
    return fail(fmt::format("cannot read \"{}\" again: it is no regular file", path), EINVAL);
  return read_all(fd, path, most);
}

} // namespace vmswitch
