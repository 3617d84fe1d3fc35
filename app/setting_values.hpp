#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "app/settings.hpp"
#include "transport/error.hpp"
#include "transport/frame/mac_address.hpp"

namespace vmswitch {

// How single settings are written, in the file and on the command line alike. Each function takes
// one value as text; its error says what is wrong with it and what would be right, and leaves
// naming the setting to the caller.

result<log_level> parse_log_level(std::string_view text);
result<log_format> parse_log_format(std::string_view text);
result<host_mode> parse_host_mode(std::string_view text);
result<listen_type> parse_listen_type(std::string_view text);

/// Octal digits such as "0660", at most 0777.
result<mode_t> parse_socket_mode(std::string_view text);

/// An IPv4 subnet with a prefix of 8 to 27 bits, so that a gateway, DNS and a few VMs fit in.
result<ipv4_subnet> parse_subnet(std::string_view text);
result<ipv4_address> parse_address(std::string_view text);

/// The IPv6 prefix of a network: a /64 out of fd00::/8, as "fd12:3456:789a:1::" or with "/64"
/// behind it.
result<ipv6_address> parse_ipv6_prefix(std::string_view text);
/// An RFC 4122 identifier, in lower case.
result<std::string> parse_uuid(std::string_view text);

/// A netmask such as "255.255.255.0"; gives the length of its prefix, 8 to 27.
result<std::uint8_t> parse_netmask(std::string_view text);
/// A MAC address that a VM may have: no group address, not all zeros.
result<mac_address> parse_vm_mac(std::string_view text);
result<std::string> parse_host_name(std::string_view text);
result<std::string> parse_domain_name(std::string_view text);
/// Bytes as pairs of hexadecimal digits, which ':' or a space may separate: "c0:a8:69:01".
result<std::string> parse_hex(std::string_view text);

/// 1 to 32 letters, digits, '-', '_' or '.', the first a letter or digit: it stands in log lines
/// and thread names.
result<std::string> parse_network_name(std::string_view text);

/// A path that fits into a Unix socket address of this system.
result<std::string> parse_socket_path(std::string_view text);

/// A path that is not empty and has no NUL in it.
result<std::string> parse_path(std::string_view text);

/// A group's name; that it exists is seen when the socket is created.
result<std::string> parse_group(std::string_view text);

/// A user's name; that it exists is seen when the daemon starts.
result<std::string> parse_user(std::string_view text);

/// A user's name, or a group's behind '@'.
result<std::string> parse_user_or_group(std::string_view text);

/// The name of a network device: 1 to 15 letters, digits, '-', '_' or '.', the first a letter or
/// digit. The system allows more, but such names lead to trouble in commands and rules.
result<std::string> parse_device_name(std::string_view text);

/// A decimal number in low..high.
result<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high);

std::string_view to_string(log_level level);
std::string_view to_string(log_format format);
std::string_view to_string(host_mode mode);
std::string_view to_string(listen_type type);

/// "0660".
std::string socket_mode_text(mode_t mode);

} // namespace vmswitch
