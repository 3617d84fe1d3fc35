#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vmswitch {

/// Where another DNS server listens.
struct dns_endpoint {
  std::string address; ///< IPv4 or IPv6 as text, the latter with its "%eth0" if it is link-local
  std::uint16_t port = 53;

  /// "9.9.9.9", "9.9.9.9:5353", "2620:fe::fe", "[2620:fe::fe]:5353", "fe80::1%eth0".
  static std::optional<dns_endpoint> parse(std::string_view text);
  bool is_ipv6() const noexcept { return address.find(':') != std::string::npos; }
  friend bool operator==(const dns_endpoint&, const dns_endpoint&) = default;
};

/// As parse() takes it; the port only if it is another than 53.
std::string to_string(const dns_endpoint& endpoint);
/// "9.9.9.9, ::1"
std::string to_string(const std::vector<dns_endpoint>& endpoints);

/// The servers that a resolv.conf(5) names, the first `most_dns_servers`; without any, as libc has
/// it, the one on this machine. What is no such line is skipped.
std::vector<dns_endpoint> parse_resolv_conf(std::string_view text);

inline constexpr std::size_t most_dns_servers = 8;

} // namespace vmswitch
