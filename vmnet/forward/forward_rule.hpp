#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "transport/error.hpp"
#include "transport/frame/mac_address.hpp"
#include "vmnet/host_config.hpp"
#include "vmnet/ip_address.hpp"

namespace vmswitch {

enum class forward_protocol : std::uint8_t { tcp, udp };

/// Where a forward listens on the host. It also names the forward: there is one at most for it.
/// "::" is all IPv6 addresses, and no IPv4 address beside them.
struct forward_listen {
  forward_protocol protocol = forward_protocol::tcp;
  ip_address address = ipv4_address{0x7f00'0001};
  std::uint16_t port = 0; // 1..65535
  friend auto operator<=>(const forward_listen&, const forward_listen&) = default;
};

/// Which VM a forward leads to: an address, or the VM with this MAC address or name, wherever its
/// lease is.
using forward_target = std::variant<ip_address, mac_address, std::string>;

/// A port of the host that leads to a port of a VM.
struct forward_rule {
  forward_listen listen;
  forward_target to = std::string{};
  std::uint16_t to_port = 0; // 1..65535
  friend bool operator==(const forward_rule&, const forward_rule&) = default;
};

/// Listening below it needs a privilege, unless net.ipv4.ip_unprivileged_port_start says otherwise.
inline constexpr std::uint16_t first_unprivileged_port = 1024;

/// The most forwards that a network may have.
inline constexpr std::size_t most_forwards = 1024;

/// Ports from first to last, both included.
struct port_range {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  std::size_t size() const noexcept { return std::size_t{last} - first + 1; }
  friend bool operator==(port_range, port_range) = default;
};

/// What has come through a forward so far.
struct forward_traffic {
  std::uint64_t open = 0;     ///< TCP connections or UDP flows that there are now
  std::uint64_t accepted = 0; ///< ... and that there have been
  std::uint64_t refused = 0;  ///< closed at once: no address yet, a limit, or the VM refused
  std::uint64_t bytes_to_vm = 0;
  std::uint64_t bytes_from_vm = 0;
};

/// A forward, as whoever asks for a list sees it.
struct forward_status {
  forward_rule rule;
  std::optional<ip_address> address;      ///< where it leads to now; none: the VM has no address
  std::optional<forward_traffic> traffic; ///< none where libslirp carries it, which does not count
  std::string by{};                       ///< who added it meanwhile; empty: the configuration
};

// -- text -------------------------------------------------------------------------------------
//
//   [tcp|udp] [ADDRESS:]PORT[-PORT] -> VM[:PORT[-PORT]]
//
// ADDRESS is 127.0.0.1 if there is none, an IPv6 address stands in brackets; VM is an address, a
// MAC address or a name. Without a port behind VM it is the same as on the host. Errors say what is
// wrong and what would be right.

/// One rule for each port of the range: "tcp 127.0.0.1:2222 -> web:22".
result<std::vector<forward_rule>> parse_forward(std::string_view text);
/// What is left of the arrow, with a single port: "udp [::1]:53".
result<forward_listen> parse_forward_listen(std::string_view text);

result<forward_protocol> parse_forward_protocol(std::string_view text);
/// An address to listen on: no group address, no zone.
result<ip_address> parse_listen_address(std::string_view text);
/// An address, else a MAC address, else a host name.
result<forward_target> parse_forward_target(std::string_view text);
/// "8000" or "8000-8010".
result<port_range> parse_ports(std::string_view text);

/// One rule for each port; `like` is what they have in common. Fails if the ranges differ in size.
result<std::vector<forward_rule>> expand_forward(const forward_rule& like, port_range listen,
                                                 port_range to);

std::string_view to_string(forward_protocol protocol);
std::string to_string(const forward_target& target);
/// "tcp 127.0.0.1:2222"
std::string to_string(const forward_listen& listen);
/// "tcp 127.0.0.1:2222 -> web:22"
std::string to_string(const forward_rule& rule);

// -- what is right ----------------------------------------------------------------------------

/// Whether a network with this host interface can have the forward: by its mode, and by the target.
/// `gives_addresses`: whether it has the DHCP server that MAC addresses and names are looked up in.
/// @pre check_host_config(host)
result<void> check_forward(const forward_rule& rule, const host_config& host, bool gives_addresses);

/// Whether both cannot listen at a time: the same port, and the same address or one that includes
/// the other.
bool in_conflict(const forward_listen& a, const forward_listen& b) noexcept;

} // namespace vmswitch
