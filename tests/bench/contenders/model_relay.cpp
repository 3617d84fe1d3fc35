#include <cerrno>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/contenders/models.hpp"

namespace vmswitch::bench {

namespace {

constexpr std::size_t buffer_size = 128 * 1024;

struct joint {
  owned_fd a;
  owned_fd b;
};

bool write_all(int fd, const std::byte* from, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, from, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    from += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void copy(const std::shared_ptr<joint>& both, int from, int to) {
  std::vector<std::byte> buffer(buffer_size);
  while (true) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0 || !write_all(to, buffer.data(), static_cast<std::size_t>(got)))
      break;
  }
  ::shutdown(both->a.get(), SHUT_RDWR);
  ::shutdown(both->b.get(), SHUT_RDWR);
}

} // namespace

void run_relay(owned_fd listener) {
  std::signal(SIGPIPE, SIG_IGN);
  while (true) {
    auto both = std::make_shared<joint>();
    both->a.reset(::accept(listener.get(), nullptr, nullptr));
    both->b.reset(::accept(listener.get(), nullptr, nullptr));
    if (!both->a || !both->b)
      return;
    std::thread{copy, both, both->a.get(), both->b.get()}.detach();
    std::thread{copy, both, both->b.get(), both->a.get()}.detach();
  }
}

} // namespace vmswitch::bench
