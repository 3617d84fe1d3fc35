#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tests/bench/contenders/contender.hpp"

namespace vmswitch::bench {

namespace {

constexpr auto bridge_name = "bench0";

ifreq request_for(const char* name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
  return request;
}

bool bring_up(int socket, const char* name) {
  ifreq request = request_for(name);
  if (::ioctl(socket, SIOCGIFFLAGS, &request) != 0)
    return false;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  return ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
}

// A bridge in a network namespace of its own, which goes with its last descriptor.
class kernel_bridge final : public running_switch {
public:
  static result<std::unique_ptr<running_switch>> create() {
    auto made = std::unique_ptr<kernel_bridge>{new kernel_bridge};
    result<void> done;
    std::thread{[&] { done = made->make_namespace(); }}.join();
    if (!done)
      return tl::unexpected{done.error()};
    return made;
  }

  result<std::unique_ptr<medium>> plug_in() override {
    owned_fd device;
    result<void> done;
    // A namespace is its thread's.
    std::thread{[&] {
      done = ::setns(namespace_.get(), CLONE_NEWNET) == 0 ? add_tap(device)
                                                          : fail_errno("setns", errno);
    }}.join();
    if (!done)
      return tl::unexpected{done.error()};
    return tap_medium(std::move(device));
  }
  pid_t process() const noexcept override { return 0; }

private:
  result<void> make_namespace() {
    if (::unshare(CLONE_NEWNET) != 0)
      return fail_errno("making a network namespace", errno);
    namespace_.reset(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    socket_.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!namespace_ || !socket_ || ::ioctl(socket_.get(), SIOCBRADDBR, bridge_name) != 0 ||
        !bring_up(socket_.get(), bridge_name))
      return fail_errno("making a bridge", errno);
    return {};
  }
  result<void> add_tap(owned_fd& device) {
    device.reset(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
    ifreq request{};
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (!device || ::ioctl(device.get(), TUNSETIFF, &request) != 0)
      return fail_errno("making a TAP device", errno);
    ifreq join = request_for(bridge_name);
    join.ifr_ifindex = static_cast<int>(::if_nametoindex(request.ifr_name));
    if (::ioctl(socket_.get(), SIOCBRADDIF, &join) != 0 ||
        !bring_up(socket_.get(), request.ifr_name))
      return fail_errno("joining the bridge", errno);
    return {};
  }

  owned_fd namespace_;
  owned_fd socket_; // in it
};

} // namespace

result<contender> bridge_contender() {
  if (auto possible = kernel_bridge::create(); !possible)
    return fail("bridge: " + possible.error().text);
  return contender{"bridge", [](std::size_t) { return kernel_bridge::create(); }};
}

} // namespace vmswitch::bench
