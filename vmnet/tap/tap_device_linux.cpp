#include "vmnet/tap/tap_device.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "vmnet/tap/bridge_helper.hpp"
#include "vmnet/tap/device_control.hpp"
#include "vmnet/tap/missing_privilege.hpp"
#include "vmnet/tap/tap_names.hpp"

namespace vmswitch {

namespace {

constexpr auto tun_path = "/dev/net/tun";

ifreq request_for(const std::string& name, int flags) {
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  request.ifr_flags = static_cast<short>(flags);
  return request;
}

result<owned_fd> open_tun() {
  owned_fd fd{::open(tun_path, O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  if (fd)
    return fd;
  if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
    return fail(
        fmt::format("this system has no {}: load the kernel's module (modprobe tun)", tun_path),
        errno);
  return fail_errno(fmt::format("cannot open {} (everyone may on most systems: chmod 0666; "
                                "--vmnet-mode=user does not need it)",
                                tun_path),
                    errno);
}

// Frames as they are on a wire: checksums complete, segments whole.
void disable_offloads(int fd) {
  ::ioctl(fd, TUNSETOFFLOAD, 0UL);
}

result<void> check_bridge(const std::string& name) {
  if (is_bridge(name))
    return {};
  if (!device_exists(name))
    return fail(fmt::format("there is no bridge {0}: make one (ip link add {0} type bridge; ip "
                            "link set dev {0} up), or name another",
                            name),
                ENODEV);
  if (const auto master = look_at_device(name).bridge; !master.empty())
    return fail(fmt::format("{} is a port of the bridge {}: write interface = \"{}\"", name, master,
                            master),
                EINVAL);
  return fail(fmt::format("{0} is no bridge. Make one and move the addresses of {0} to it, which "
                          "your network manager does best (ip link add br0 type bridge; ip link "
                          "set dev {0} master br0), and write interface = \"br0\"",
                          name),
              EINVAL);
}

} // namespace

result<tap_device> tap_device::open(const host_config& config) {
  if (config.tap_fd)
    return adopt(*config.tap_fd);
  if (config.mode == host_mode::bridged)
    return for_bridge(config);
  auto made = config.interface.empty() ? attach_chosen(config) : attach(config.interface);
  if (!made && made.error().code == EPERM)
    return fail(missing_privilege(config, made.error().text), EPERM);
  return made;
}

result<tap_device> tap_device::attach(const std::string& name) {
  auto fd = open_tun();
  if (!fd)
    return tl::unexpected{std::move(fd.error())};
  const bool existed = device_exists(name);
  auto request = request_for(name, IFF_TAP | IFF_NO_PI);
  int code = ::ioctl(fd->get(), TUNSETIFF, &request) == 0 ? 0 : errno;
  if (code == EINVAL && existed) { // one with several queues, of which we use one
    request = request_for(name, IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE);
    code = ::ioctl(fd->get(), TUNSETIFF, &request) == 0 ? 0 : errno;
  }
  if (code == EBUSY)
    return fail(fmt::format("another process uses the network device {}: name another", name),
                code);
  if (code == EINVAL)
    return fail(fmt::format("the network device {} is no TAP: name another", name), code);
  if (code == EPERM)
    return fail(existed ? fmt::format("the TAP {} is not yours", name)
                        : fmt::format("cannot make the network device {}", name),
                code);
  if (code != 0)
    return fail_errno(fmt::format("cannot make the network device {}", name), code);
  return identify(std::move(*fd), existed ? origin::existing : origin::made);
}

result<tap_device> tap_device::attach_chosen(const host_config& config) {
  for (int choice = 0;; ++choice) {
    auto made = attach(device_name_for(config.name, choice));
    if (made || made.error().code != EBUSY || choice + 1 == device_name_choices)
      return made;
  }
}

result<tap_device> tap_device::adopt(int inherited) {
  owned_fd fd{::fcntl(inherited, F_DUPFD_CLOEXEC, 3)}; // ours to close, once for each start
  if (!fd)
    return fail(fmt::format("tap_fd: there is no descriptor {}: whoever starts the daemon has to "
                            "leave it open",
                            inherited),
                errno);
  ::fcntl(inherited, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return identify(std::move(fd), origin::existing);
}

result<tap_device> tap_device::identify(owned_fd fd, origin from) {
  ifreq request{};
  if (::ioctl(fd.get(), TUNGETIFF, &request) != 0)
    return fail_errno(fmt::format("descriptor {} is no TAP", fd.get()), errno);
  const auto flags = static_cast<unsigned short>(request.ifr_flags);
  if ((flags & IFF_TAP) == 0 || (flags & IFF_NO_PI) == 0 || (flags & IFF_VNET_HDR) != 0)
    return fail(fmt::format("the TAP {} puts a header before each frame: open it with IFF_TAP and "
                            "IFF_NO_PI, and without IFF_VNET_HDR",
                            request.ifr_name),
                EINVAL);
  // Somebody else might have removed or made it at the same moment: the kernel knows.
  if (from != origin::helper)
    from = (flags & IFF_PERSIST) != 0 || from == origin::existing ? origin::existing : origin::made;
  disable_offloads(fd.get());
  return tap_device{std::move(fd), request.ifr_name, from};
}

result<tap_device> tap_device::for_bridge(const host_config& config) {
  if (auto right = check_bridge(config.interface); !right)
    return tl::unexpected{std::move(right.error())};
  auto made = attach_chosen(config);
  if (made || (made.error().code != EPERM && made.error().code != EACCES))
    return made;
  auto fd = tap_from_helper(config.bridge_helper, config.interface);
  if (!fd)
    return fail(
        missing_privilege(config, fmt::format("{}; {}", made.error().text, fd.error().text)),
        EPERM);
  ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_NONBLOCK);
  return identify(std::move(*fd), origin::helper);
}

mac_address tap_device::mac() const noexcept {
  ifreq request{};
  if (::ioctl(fd_.get(), SIOCGIFHWADDR, &request) != 0)
    return {};
  std::array<std::byte, 6> octets{};
  std::memcpy(octets.data(), request.ifr_hwaddr.sa_data, octets.size());
  return mac_address::read(octets.data());
}

bool tap_device::is_here() const noexcept {
  return device_exists(name_) && device_mac(name_) == mac();
}

} // namespace vmswitch
