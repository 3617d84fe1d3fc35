#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/dhcp.hpp"
#include "vmnet/dhcp/dhcp_server.hpp"

namespace vmswitch::test {

inline ipv4_address ip(const char* text) {
  return ipv4_address::parse(text).value();
}

/// The n-th VM.
inline mac_address vm(std::uint64_t n) {
  return mac_address::from_integer(0x5254'0000'0000 + n);
}

inline dhcp_config with_range(const char* first, const char* last) {
  dhcp_config config;
  config.range = {ip(first), ip(last)};
  return config;
}

/// The options in a reply, those that are split joined.
inline std::map<int, std::string> options_of(const frame& bare) {
  std::map<int, std::string> found;
  std::size_t at = 14 + 20 + 8 + 236 + 4;
  while (at + 1 < bare.size() && std::to_integer<int>(bare[at]) != 255) {
    const auto code = std::to_integer<int>(bare[at]);
    const auto size = std::to_integer<std::size_t>(bare[at + 1]);
    REQUIRE(at + 2 + size <= bare.size());
    for (std::size_t i = 0; i < size; ++i)
      found[code] += static_cast<char>(bare[at + 2 + i]);
    at += 2 + size;
  }
  return found;
}

/// A DHCP server and clients of it, in a time that the test advances.
struct dhcp_bench {
  explicit dhcp_bench(const dhcp_config& wanted = {}, const host_config& network = {})
      : host{network}, config{wanted}, server{resolve_dhcp(network, wanted)} {
    REQUIRE(check_dhcp_config(host, config));
    server.set_mac(gateway_mac);
  }

  /// Forgets everything, as a restart without a lease file does.
  void restart() {
    server = dhcp_server{resolve_dhcp(host, config)};
    server.set_mac(gateway_mac);
  }

  /// The answer to a frame, if there is one. `event`, `last` and `probes` are set anew.
  std::optional<dhcp_message> give(const frame& bare) {
    REQUIRE(server.is_for_server(bare));
    auto outcome = server.receive(bare, now);
    event = outcome.event;
    last.clear();
    probes.clear();
    std::optional<dhcp_message> answer;
    for (auto& each : outcome.frames) {
      if (auto parsed = parse_dhcp_reply(each)) {
        answer = parsed;
        last = each;
      } else {
        const auto arp = parse_arp(each);
        REQUIRE(arp);
        probes.push_back(*arp);
      }
    }
    return answer;
  }
  std::optional<dhcp_message> send(const dhcp_message& message) {
    return give(dhcp_from_client(message));
  }
  /// From the client's address to the server's, as a client that renews does it.
  std::optional<dhcp_message> send_unicast(const dhcp_message& message) {
    return give(udp({message.client, gateway_mac, message.client_address, host.gateway}, 68, 67,
                    encode_dhcp(message)));
  }

  dhcp_message message(dhcp_message::kind_type kind, mac_address client) const {
    dhcp_message made;
    made.kind = kind;
    made.client = client;
    made.transaction = 77;
    return made;
  }
  std::optional<ipv4_address> discover(mac_address client) {
    const auto answer = send(message(dhcp_message::discover, client));
    return answer && answer->kind == dhcp_message::offer ? std::optional{answer->your_address}
                                                         : std::nullopt;
  }
  /// REQUEST as in the state SELECTING.
  std::optional<dhcp_message> select(mac_address client, ipv4_address address) {
    auto request = message(dhcp_message::request, client);
    request.requested = address;
    request.server = host.gateway;
    return send(request);
  }
  /// REQUEST as in the state INIT-REBOOT.
  std::optional<dhcp_message> reboot(mac_address client, ipv4_address address) {
    auto request = message(dhcp_message::request, client);
    request.requested = address;
    return send(request);
  }
  std::optional<dhcp_message> renew(mac_address client, ipv4_address address) {
    auto request = message(dhcp_message::request, client);
    request.client_address = address;
    request.wants_broadcast = false;
    return send_unicast(request);
  }
  void release(mac_address client, ipv4_address address) {
    auto bye = message(dhcp_message::release, client);
    bye.client_address = address;
    bye.server = host.gateway;
    CHECK_FALSE(send_unicast(bye));
  }
  void decline(mac_address client, ipv4_address address) {
    auto no = message(dhcp_message::decline, client);
    no.requested = address;
    no.server = host.gateway;
    CHECK_FALSE(send(no));
  }
  /// DISCOVER and REQUEST.
  std::optional<ipv4_address> lease(mac_address client) {
    const auto offered = discover(client);
    if (!offered)
      return std::nullopt;
    const auto answer = select(client, *offered);
    if (!answer || answer->kind != dhcp_message::ack)
      return std::nullopt;
    CHECK(answer->your_address == *offered);
    return answer->your_address;
  }
  std::optional<dhcp_event> arp_from(mac_address sender, ipv4_address address) {
    return server.observe_arp(arp_request(sender, address, host.gateway), now);
  }

  host_config host;
  dhcp_config config;
  mac_address gateway_mac = mac_address::from_integer(0x5255'c0a8'6901);
  dhcp_server server;
  lease_table::time_point now{std::chrono::hours{1000}};
  std::optional<dhcp_event> event;
  frame last; // the reply as it was sent
  std::vector<arp_packet> probes;
};

} // namespace vmswitch::test
