#include "vmnet/tap/device_control.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/owned_fd.hpp"
#include "vmnet/tap/address_change.hpp"

namespace vmswitch {

namespace {

using what = device_step::what;

ifreq request_for(const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  return request;
}

// 0 or errno.
int control(unsigned long operation, ifreq& request) {
  const owned_fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  return socket && ::ioctl(socket.get(), operation, &request) == 0 ? 0 : errno;
}

using address_list = std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)>;

address_list all_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    list = nullptr;
  return {list, &::freeifaddrs};
}

ipv4_address ipv4_of(const sockaddr* address) {
  sockaddr_in in{};
  std::memcpy(&in, address, sizeof in);
  return {ntohl(in.sin_addr.s_addr)};
}

ipv6_address ipv6_of(const sockaddr* address) {
  sockaddr_in6 in{};
  std::memcpy(&in, address, sizeof in);
  ipv6_address made;
  std::memcpy(made.octets.data(), &in.sin6_addr, made.octets.size());
  return made;
}

std::uint8_t prefix_of(const sockaddr* mask) {
  return mask == nullptr ? 32 : static_cast<std::uint8_t>(__builtin_popcount(ipv4_of(mask).value));
}

std::string setting_path(std::string_view family, std::string_view device, std::string_view key) {
  return fmt::format("/proc/sys/net/{}/conf/{}/{}", family, device, key);
}

struct setting {
  std::string_view family, key, value;
};

// "ipv4/arp_ignore=1"
setting parse_setting(std::string_view text) {
  const auto slash = text.find('/');
  const auto equals = text.find('=');
  return {text.substr(0, slash), text.substr(slash + 1, equals - slash - 1),
          text.substr(equals + 1)};
}

int set_up(const std::string& device, bool up) {
  auto request = request_for(device);
  if (const int code = control(SIOCGIFFLAGS, request); code != 0)
    return code;
  const auto flag = static_cast<short>(IFF_UP);
  request.ifr_flags = static_cast<short>(up ? request.ifr_flags | flag : request.ifr_flags & ~flag);
  return control(SIOCSIFFLAGS, request);
}

int set_mac(const std::string& device, std::string_view text) {
  const auto mac = mac_address::parse(text);
  if (!mac)
    return EINVAL;
  auto request = request_for(device);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::array<std::byte, 6> octets{};
  mac->write(octets.data());
  std::memcpy(request.ifr_hwaddr.sa_data, octets.data(), octets.size());
  return control(SIOCSIFHWADDR, request);
}

int set_mtu(const std::string& device, std::string_view text) {
  auto request = request_for(device);
  std::from_chars(text.data(), text.data() + text.size(), request.ifr_mtu);
  return control(SIOCSIFMTU, request);
}

int join_bridge(const std::string& device, const std::string& bridge, bool leave) {
  auto request = request_for(bridge);
  request.ifr_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
  return control(leave ? SIOCBRDELIF : SIOCBRADDIF, request);
}

} // namespace

bool has_net_admin() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  return ::syscall(SYS_capget, &header, data.data()) == 0 &&
         (data[0].effective >> CAP_NET_ADMIN & 1) != 0;
}

bool device_exists(const std::string& name) {
  return ::if_nametoindex(name.c_str()) != 0;
}

device_state look_at_device(const std::string& name) {
  device_state found;
  auto request = request_for(name);
  if (control(SIOCGIFFLAGS, request) == 0)
    found.up = (request.ifr_flags & IFF_UP) != 0;
  if (control(SIOCGIFMTU, request) == 0)
    found.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  found.has_ipv6 = read_setting("ipv6", name, "disable_ipv6") == "0";
  std::error_code none;
  found.bridge =
      std::filesystem::read_symlink(fmt::format("/sys/class/net/{}/brport/bridge", name), none)
          .filename()
          .string();
  const auto addresses = all_addresses();
  for (const auto* each = addresses.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || name != each->ifa_name)
      continue;
    if (each->ifa_addr->sa_family == AF_INET)
      found.addresses4.emplace_back(ipv4_of(each->ifa_addr), prefix_of(each->ifa_netmask));
    else if (each->ifa_addr->sa_family == AF_INET6)
      found.addresses6.push_back(ipv6_of(each->ifa_addr));
  }
  return found;
}

mac_address device_mac(const std::string& name) {
  auto request = request_for(name);
  if (control(SIOCGIFHWADDR, request) != 0)
    return {};
  std::array<std::byte, 6> octets{};
  std::memcpy(octets.data(), request.ifr_hwaddr.sa_data, octets.size());
  return mac_address::read(octets.data());
}

ipv6_address device_link_local(const std::string& name) {
  for (const auto& address : look_at_device(name).addresses6)
    if (address.is_link_local())
      return address;
  return {};
}

std::string overlapping_device(const ipv4_subnet& subnet, const std::string& except) {
  const auto addresses = all_addresses();
  for (const auto* each = addresses.get(); each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET ||
        except == each->ifa_name)
      continue;
    const auto address = ipv4_of(each->ifa_addr);
    const auto prefix = prefix_of(each->ifa_netmask);
    const ipv4_subnet wider{{0}, std::min(prefix, subnet.prefix_length)};
    if (((address.value ^ subnet.network.value) & wider.mask().value) == 0)
      return fmt::format("{} ({}/{})", each->ifa_name, to_string(address), prefix);
  }
  return {};
}

bool is_bridge(const std::string& name) {
  // By ethtool, for sysfs may be another namespace's.
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  auto request = request_for(name);
  request.ifr_data = reinterpret_cast<char*>(&driver);
  return control(SIOCETHTOOL, request) == 0 && std::string_view{driver.driver} == "bridge";
}

result<void> apply_step(const std::string& device, const device_step& step) {
  int code = 0;
  switch (step.kind) {
  case what::mac:
    code = set_mac(device, step.value);
    break;
  case what::mtu:
    code = set_mtu(device, step.value);
    break;
  case what::setting: {
    const auto [family, key, value] = parse_setting(step.value);
    return write_setting(family, device, key, value);
  }
  case what::address4:
  case what::address6:
    code = change_address(device, step.value, step.undo);
    break;
  case what::bridge:
    code = join_bridge(device, step.value, step.undo);
    break;
  case what::up:
    code = set_up(device, !step.undo);
    break;
  }
  if (code == 0)
    return {};
  return fail_errno(fmt::format("\"{}\" failed", command_for(device, step)), code);
}

std::string value_before(const std::string& device, const device_step& step) {
  if (step.kind == what::mtu)
    return fmt::to_string(look_at_device(device).mtu);
  if (step.kind != what::setting)
    return {};
  const auto [family, key, value] = parse_setting(step.value);
  return read_setting(family, device, key);
}

std::string read_setting(std::string_view family, std::string_view device, std::string_view key) {
  const owned_fd file{
      ::open(setting_path(family, device, key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  std::array<char, 64> text{};
  const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : 0;
  const std::string_view read{text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  return std::string{read.substr(0, read.find('\n'))};
}

result<void> write_setting(std::string_view family, std::string_view device, std::string_view key,
                           std::string_view value) {
  const auto path = setting_path(family, device, key);
  const owned_fd file{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)};
  if (!file || ::write(file.get(), value.data(), value.size()) < 0)
    return fail_errno(fmt::format("cannot write {} to {}", value, path), errno);
  return {};
}

} // namespace vmswitch
