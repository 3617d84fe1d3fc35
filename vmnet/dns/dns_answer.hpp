#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vmnet/dns/dns_message.hpp"

namespace vmswitch {

/// What another server answered, looked through once and ready to be told to any number of clients.
struct dns_answer {
  dns_bytes message;               ///< without the EDNS record
  std::vector<std::uint16_t> ttls; ///< where they stand
  std::size_t question_end = 0;
  /// How long it may be kept: the least TTL, of a negative answer what its SOA record says
  /// (RFC 2308, 5); 0 for what must not be kept.
  std::chrono::seconds keep{0};
};

inline constexpr std::chrono::seconds longest_kept{86400};
inline constexpr std::chrono::seconds longest_kept_negative{3600};

/// Reads an answer to `query`. Nothing for what is malformed, answers another question, or says so
/// by itself that it is not whole (TC).
std::optional<dns_answer> parse_dns_answer(std::span<const std::byte> message,
                                           const dns_query& query);

/// The answer as `query` wants it: its id, its spelling of the name, flags and EDNS, TTLs less the
/// `age` of the answer.
dns_bytes adapt(const dns_answer& answer, const dns_query& query, std::chrono::seconds age);

/// A message of ours cut to `limit` bytes (a UDP datagram): one that is longer is left without
/// records, and says so (TC), so that the client asks by TCP. @pre it answers `query`
dns_bytes cut_to(dns_bytes message, const dns_query& query, std::size_t limit);

} // namespace vmswitch
