#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/frame/mac_address.hpp"
#include "vmnet/dhcp/dhcp_config.hpp"
#include "vmnet/dhcp/dhcp_request.hpp"
#include "vmnet/ipv4.hpp"

namespace vmswitch {

/// Who answers.
struct dhcp_identity {
  mac_address mac;
  ipv4_address address;
};

/// A whole frame with a reply to `request` (RFC 2131, 4.1 and table 3). `options` are what stands
/// behind message type and server identifier, in order of importance: values of more than 255 bytes
/// are split (RFC 3396), and options that do not fit into what the client takes, or into `mtu`, are
/// left out. The client's identifier comes back (RFC 6842).
///
/// A NAK is broadcast; so is what a client without address wants broadcast; else it goes to the
/// address that the client has or is given.
std::vector<std::byte> make_dhcp_reply(const dhcp_identity& server, const dhcp_request& request,
                                       dhcp_kind kind, ipv4_address given,
                                       const std::vector<dhcp_option>& options, std::size_t mtu);

/// Bytes that options may have in the reply to `request`, type and server identifier included.
std::size_t dhcp_option_space(const dhcp_request& request, std::size_t mtu);

/// "Who has `target`?", broadcast (RFC 826).
std::vector<std::byte> make_arp_request(const dhcp_identity& sender, ipv4_address target);

/// The value of option 119 (RFC 3397): as many of the domains, from the first on, as fit into
/// `space` bytes. Without compression, which not every client understands.
std::string encode_search_list(const std::vector<std::string>& domains, std::size_t space);

/// Values for options.
std::string octets_of(ipv4_address address);
std::string octets_of(const std::vector<ipv4_address>& addresses);
std::string octets_of(std::uint32_t value);

} // namespace vmswitch
