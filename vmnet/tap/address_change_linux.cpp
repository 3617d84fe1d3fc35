#include "vmnet/tap/address_change.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/owned_fd.hpp"

namespace vmswitch {

namespace {

// The whole request: header, address message, and an attribute or two.
struct request {
  nlmsghdr header{};
  ifaddrmsg message{};
  std::array<std::byte, 64> attributes{};

  void add(unsigned short type, const void* value, std::size_t size) {
    rtattr attribute{};
    attribute.rta_type = type;
    attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(size));
    auto* at = attributes.data() + (header.nlmsg_len - NLMSG_LENGTH(sizeof message));
    std::memcpy(at, &attribute, sizeof attribute);
    std::memcpy(at + RTA_LENGTH(0), value, size);
    header.nlmsg_len += static_cast<std::uint32_t>(RTA_SPACE(size));
  }
};

// Sends it and reads the acknowledgement: 0 or errno.
int ask(const request& message) {
  const owned_fd socket{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
  if (!socket || ::send(socket.get(), &message, message.header.nlmsg_len, 0) < 0)
    return errno;
  struct {
    nlmsghdr header;
    nlmsgerr outcome;
    std::array<std::byte, 512> rest; // our request, repeated
  } answer{};
  const ssize_t got = ::recv(socket.get(), &answer, sizeof answer, 0);
  if (got < 0)
    return errno;
  if (static_cast<std::size_t>(got) < NLMSG_LENGTH(sizeof answer.outcome) ||
      answer.header.nlmsg_type != NLMSG_ERROR)
    return EPROTO;
  return -answer.outcome.error;
}

} // namespace

int change_address(const std::string& device, const std::string& address, bool remove) {
  const auto slash = address.find('/');
  const std::string bare = address.substr(0, slash);
  std::uint8_t prefix = 0;
  if (slash != std::string::npos)
    std::from_chars(address.data() + slash + 1, address.data() + address.size(), prefix);
  const bool is_ipv6 = bare.find(':') != std::string::npos;
  std::array<std::byte, 16> octets{};
  if (::inet_pton(is_ipv6 ? AF_INET6 : AF_INET, bare.c_str(), octets.data()) != 1)
    return EINVAL;
  const std::size_t size = is_ipv6 ? 16 : 4;

  request made;
  made.header.nlmsg_len = NLMSG_LENGTH(sizeof made.message);
  made.header.nlmsg_type = remove ? RTM_DELADDR : RTM_NEWADDR;
  made.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  if (!remove)
    made.header.nlmsg_flags |= NLM_F_CREATE | NLM_F_EXCL;
  made.message.ifa_family = is_ipv6 ? AF_INET6 : AF_INET;
  made.message.ifa_prefixlen = prefix;
  made.message.ifa_index = ::if_nametoindex(device.c_str());
  made.message.ifa_flags = is_ipv6 ? IFA_F_NODAD : 0;
  made.add(IFA_LOCAL, octets.data(), size);
  made.add(IFA_ADDRESS, octets.data(), size);
  const int code = ask(made);
  return code == EEXIST && !remove ? 0 : code;
}

} // namespace vmswitch
