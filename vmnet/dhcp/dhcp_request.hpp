#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/frame/mac_address.hpp"
#include "vmnet/ipv4.hpp"

namespace vmswitch {

/// DHCP message types (RFC 2132, 9.6).
enum class dhcp_kind : std::uint8_t {
  discover = 1,
  offer = 2,
  request = 3,
  decline = 4,
  ack = 5,
  nak = 6,
  release = 7,
  inform = 8,
};

/// What a client says (RFC 2131), as far as the server looks at it.
struct dhcp_request {
  dhcp_kind kind = dhcp_kind::discover; // one of those that clients send
  std::uint32_t transaction = 0;
  bool wants_broadcast = false;
  mac_address client;                    // no group address, not null
  ipv4_address client_address;           // ciaddr: the one that it uses; 0.0.0.0: none
  std::optional<ipv4_address> requested; // option 50
  std::optional<ipv4_address> server;    // option 54
  std::size_t largest_reply = 576;       // option 57: bytes of the IP packet, 576 at least
  std::vector<std::uint8_t> wanted;      // option 55: codes, in the client's order
  std::string client_id;                 // option 61, to be sent back (RFC 6842); may be empty
  std::string host_name;                 // option 12, else 81, if it is one; else empty
};

/// The largest DHCP message that is looked at, in bytes.
inline constexpr std::size_t largest_dhcp_request = 4096;

/// Reads the payload of a UDP datagram. Nothing for BOOTP, for replies, for what came through a
/// relay, for hardware other than Ethernet, and for anything malformed. Options that are split are
/// joined (RFC 3396), and those in the fields for file and server name are found (option 52).
std::optional<dhcp_request> parse_dhcp_request(std::span<const std::byte> payload);

} // namespace vmswitch
