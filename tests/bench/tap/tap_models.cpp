#include "tests/bench/tap/tap_models.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "transport/frame/ethernet.hpp"

namespace vmswitch::bench {

namespace {

constexpr std::size_t largest = 65550;
constexpr std::size_t batch = 64 * 1024;

void copy(int from, int to) {
  std::array<std::byte, largest> frame;
  while (true) {
    const ssize_t got = ::read(from, frame.data(), frame.size());
    if (got < 0 && errno != EINTR && errno != EIO)
      return;
    if (got > 0)
      static_cast<void>(::write(to, frame.data(), static_cast<std::size_t>(got)));
  }
}

bool write_all(int fd, const std::byte* from, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, from, size);
    if (written <= 0)
      return false;
    from += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void from_tap(int tap, int socket) {
  std::vector<std::byte> out(batch + prefix_size + largest);
  while (true) {
    std::size_t used = 0;
    while (used < batch) {
      const ssize_t got = ::read(tap, out.data() + used + prefix_size, largest);
      if (got <= 0)
        break;
      write_prefix(out.data() + used, static_cast<std::uint32_t>(got));
      used += prefix_size + static_cast<std::size_t>(got);
    }
    if (used > 0 && !write_all(socket, out.data(), used))
      return;
    if (used < batch) {
      pollfd waiting{tap, POLLIN, 0};
      ::poll(&waiting, 1, -1);
    }
  }
}

void to_tap(int socket, int tap) {
  std::vector<std::byte> in(2 * batch + largest);
  std::size_t held = 0;
  while (true) {
    const ssize_t got = ::read(socket, in.data() + held, in.size() - held);
    if (got <= 0)
      return;
    held += static_cast<std::size_t>(got);
    std::size_t at = 0;
    while (held - at >= prefix_size) {
      const std::size_t size = read_prefix(in.data() + at);
      if (size > largest)
        return;
      if (held - at < prefix_size + size)
        break;
      static_cast<void>(::write(tap, in.data() + at + prefix_size, size));
      at += prefix_size + size;
    }
    std::memmove(in.data(), in.data() + at, held - at);
    held -= at;
  }
}

} // namespace

result<owned_fd> open_tap(const std::string& where) {
  const auto at = where.find('@');
  const owned_fd ours{::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)};
  if (at != std::string::npos) {
    const auto path = "/proc/" + where.substr(at + 1) + "/ns/net";
    const owned_fd theirs{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!theirs || ::setns(theirs.get(), CLONE_NEWNET) != 0)
      return fail_errno("cannot enter " + path, errno);
  }
  owned_fd tap{::open("/dev/net/tun", O_RDWR | O_CLOEXEC)};
  ifreq request{};
  where.copy(request.ifr_name, std::min(at, sizeof request.ifr_name - 1));
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  const bool made = tap && ::ioctl(tap.get(), TUNSETIFF, &request) == 0;
  const int code = errno;
  if (at != std::string::npos)
    ::setns(ours.get(), CLONE_NEWNET);
  if (!made)
    return fail_errno("cannot make the TAP " + where, code);
  return tap;
}

void run_tap_relay(int a, int b) {
  std::thread back{copy, b, a};
  copy(a, b);
  back.join();
}

void run_tap_vm(int tap, int socket) {
  ::fcntl(tap, F_SETFL, ::fcntl(tap, F_GETFL) | O_NONBLOCK);
  std::thread{from_tap, tap, socket}.detach();
  to_tap(socket, tap);
}

} // namespace vmswitch::bench
