#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "vmnet/dns/dns_message.hpp"

namespace vmswitch::test {

inline dns_name name_of(const char* text) {
  const auto name = dns_name::parse(text);
  REQUIRE_MESSAGE(name, text);
  return *name;
}

/// A query as a client writes it. With `udp_size` it has EDNS.
inline dns_bytes query_for(const char* name, dns_type type = dns_type::a, std::uint16_t id = 77,
                           std::uint16_t udp_size = 0, bool dnssec_ok = false) {
  dns_query query;
  query.id = id;
  query.name = name_of(name);
  query.type = type;
  auto message = make_dns_question(query);
  set_u16(message, 0, id);
  if (udp_size == 0) {
    message.resize(message.size() - 11);
    set_u16(message, 10, 0);
  } else {
    set_u16(message, message.size() - 8, udp_size);
    if (dnssec_ok)
      message[message.size() - 4] = std::byte{0x80};
  }
  return message;
}

inline dns_query parsed_query(std::span<const std::byte> message) {
  const auto got = parse_dns_query(message);
  REQUIRE(got.query.has_value());
  return *got.query;
}

/// A record as dig would print it: "web.vm.internal 10 A 192.168.105.20".
struct shown_answer {
  std::uint16_t id = 0;
  unsigned rcode = 0;
  bool authoritative = false, truncated = false, recursion_available = false, authentic = false;
  std::vector<std::string> answers, authorities;
  std::optional<std::uint16_t> edns; ///< its UDP size
  std::size_t size = 0;
};

/// Names may be compressed. Fails the test if the message is malformed.
shown_answer show(std::span<const std::byte> message);

} // namespace vmswitch::test
