#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/frames.hpp"

namespace vmswitch::test {

/// A DHCP message (RFC 2131) with the options (RFC 2132) that a test looks at. An option that is
/// absent is zero, empty or nothing; one of these that is present twice or has a wrong length makes
/// the message malformed. Options without a member here are skipped.
struct dhcp_message {
  enum kind_type : std::uint8_t {
    discover = 1,
    offer = 2,
    request = 3,
    decline = 4,
    ack = 5,
    nak = 6,
    release = 7,
    inform = 8,
  };

  kind_type kind = discover;
  std::uint32_t transaction = 0;
  bool wants_broadcast = true; ///< the answer is to be broadcast: the client has no address yet
  mac_address client;
  ipv4_address client_address;               ///< ciaddr: the address that it already uses
  ipv4_address your_address;                 ///< yiaddr: the one that it is given
  std::optional<ipv4_address> requested;     // option 50
  std::optional<ipv4_address> server;        // 54
  std::optional<ipv4_address> mask;          // 1
  std::vector<ipv4_address> routers;         // 3
  std::vector<ipv4_address> dns;             // 6
  std::string host_name;                     // 12
  std::optional<std::uint16_t> mtu;          // 26
  std::optional<std::chrono::seconds> lease; // 51
  std::vector<std::byte> client_id;          // 61
};

/// The payload of a UDP datagram: BOOTREQUEST or BOOTREPLY as `kind` demands.
std::vector<std::byte> encode_dhcp(const dhcp_message& message);

/// Reads such a payload. Nothing for anything malformed: too short, no magic cookie, no message
/// type, an option that reaches past the end, no end option.
std::optional<dhcp_message> parse_dhcp(std::span<const std::byte> payload);

/// A message from a client, broadcast from 0.0.0.0 port 68 to port 67.
frame dhcp_from_client(const dhcp_message& message);
/// A message from a server, broadcast from port 67 to port 68.
frame dhcp_from_server(const dhcp_message& message, mac_address server_mac, ipv4_address server);

/// The DHCP message for a client within a whole frame, if it holds one.
std::optional<dhcp_message> parse_dhcp_reply(std::span<const std::byte> bare);
/// The DHCP message for a server within a whole frame, if it holds one.
std::optional<dhcp_message> parse_dhcp_request(std::span<const std::byte> bare);

} // namespace vmswitch::test
