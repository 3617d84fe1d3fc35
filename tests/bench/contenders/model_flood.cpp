#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/bench/contenders/host_model.hpp"
#include "tests/bench/contenders/models.hpp"
#include "transport/frame/ethernet.hpp"

namespace vmswitch::bench {

namespace {

constexpr std::size_t frame_limit = 69632;

struct connections {
  std::mutex mutex;
  std::vector<int> all; // guarded by mutex
};

bool read_all(int fd, std::byte* into, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(fd, into, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

void write_frame(int fd, const std::byte* prefix, const std::byte* frame, std::size_t size) {
  iovec parts[2] = {{const_cast<std::byte*>(prefix), prefix_size},
                    {const_cast<std::byte*>(frame), size}};
  int first = 0;
  while (first < 2) {
    ssize_t written = ::writev(fd, parts + first, 2 - first);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    for (; first < 2 && static_cast<std::size_t>(written) >= parts[first].iov_len; ++first)
      written -= static_cast<ssize_t>(parts[first].iov_len);
    if (first < 2) {
      parts[first].iov_base = static_cast<std::byte*>(parts[first].iov_base) + written;
      parts[first].iov_len -= static_cast<std::size_t>(written);
    }
  }
}

void write_to_all_but(connections& shared, int self, const std::byte* prefix,
                      const std::byte* frame, std::size_t size) {
  const std::lock_guard lock{shared.mutex};
  for (const int other : shared.all)
    if (other != self)
      write_frame(other, prefix, frame, size);
}

void serve(const std::shared_ptr<connections>& shared, owned_fd self,
           const std::shared_ptr<host_model>& host) {
  std::byte prefix[prefix_size];
  std::vector<std::byte> frame(frame_limit);
  while (read_all(self.get(), prefix, sizeof prefix)) {
    const std::uint32_t length = read_prefix(prefix);
    if (length > frame.size() || !read_all(self.get(), frame.data(), length))
      break;
    if (host)
      host->take({frame.data(), length});
    write_to_all_but(*shared, self.get(), prefix, frame.data(), length);
  }
  const std::lock_guard lock{shared->mutex};
  std::erase(shared->all, self.get());
}

void send_from_host(const std::shared_ptr<connections>& shared,
                    const std::shared_ptr<host_model>& host) {
  std::byte prefix[prefix_size];
  while (true) {
    const auto frame = host->next();
    if (frame.empty()) {
      host->wait();
      continue;
    }
    write_prefix(prefix, static_cast<std::uint32_t>(frame.size()));
    write_to_all_but(*shared, -1, prefix, frame.data(), frame.size());
  }
}

void run(owned_fd listener, const std::shared_ptr<host_model>& host) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto shared = std::make_shared<connections>();
  if (host)
    std::thread{send_from_host, shared, host}.detach();
  while (true) {
    owned_fd accepted{::accept(listener.get(), nullptr, nullptr)};
    if (!accepted)
      return;
    {
      const std::lock_guard lock{shared->mutex};
      shared->all.push_back(accepted.get());
    }
    std::thread{serve, shared, std::move(accepted), host}.detach();
  }
}

} // namespace

void run_flood(owned_fd listener) {
  run(std::move(listener), nullptr);
}

void run_flood_with_host(owned_fd listener) {
  run(std::move(listener), std::make_shared<host_model>([] {}));
}

} // namespace vmswitch::bench
