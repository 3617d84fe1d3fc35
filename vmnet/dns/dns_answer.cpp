#include "vmnet/dns/dns_answer.hpp"

#include <algorithm>

namespace vmswitch {

namespace {

using bytes = std::span<const std::byte>;
using std::chrono::seconds;

constexpr std::uint16_t is_answer = 0x8000, opcode_bits = 0x7800, truncated = 0x0200,
                        recursion_desired = 0x0100, recursion_available = 0x0080,
                        authentic_data = 0x0020, checking_disabled = 0x0010, rcode_bits = 15;
constexpr std::size_t authorities_at = 8, additionals_at = 10;
constexpr std::size_t record_header = 10;

// Behind a name that may be compressed; 0 if it is malformed. Where it points to is not looked at.
std::size_t skip_name(bytes message, std::size_t at) {
  while (at < message.size()) {
    const std::size_t size = dns_u8(message, at);
    if (size >= 0xc0)
      return at + 2 <= message.size() ? at + 2 : 0;
    if (size > 63)
      return 0;
    at += 1 + size;
    if (size == 0)
      return at <= message.size() ? at : 0;
  }
  return 0;
}

struct record {
  std::size_t begin = 0;
  std::size_t fields = 0; // where the type stands
  dns_type type{};
  std::uint32_t ttl = 0;
  std::size_t end = 0;
};

std::optional<record> read_record(bytes message, std::size_t at) {
  const auto fields = skip_name(message, at);
  if (fields == 0 || message.size() - fields < record_header)
    return std::nullopt;
  const std::size_t size = dns_u16(message, fields + 8);
  if (message.size() - fields - record_header < size)
    return std::nullopt;
  return record{at, fields, dns_type{dns_u16(message, fields)}, dns_u32(message, fields + 4),
                fields + record_header + size};
}

// The last field of an SOA record (RFC 2308, 4). Its two names may be compressed.
std::optional<std::uint32_t> soa_minimum(bytes message, const record& soa) {
  constexpr std::size_t numbers = 20;
  const auto whole = message.first(soa.end);
  auto at = skip_name(whole, soa.fields + record_header);
  at = at == 0 ? 0 : skip_name(whole, at);
  if (at == 0 || soa.end - at < numbers)
    return std::nullopt;
  return dns_u32(message, at + 16);
}

// A TTL with its highest bit set is none (RFC 2181, 8).
seconds as_ttl(std::uint32_t value) {
  return seconds{value > 0x7fff'ffff ? 0 : value};
}

} // namespace

std::optional<dns_answer> parse_dns_answer(bytes message, const dns_query& query) {
  if (message.size() < dns_header_size || message.size() > 65535)
    return std::nullopt;
  const auto flags = dns_u16(message, 2);
  if ((flags & is_answer) == 0 || (flags & (opcode_bits | truncated)) != 0 ||
      dns_u16(message, 4) != 1)
    return std::nullopt;
  auto at = dns_header_size;
  const auto name = dns_name::read(message, at);
  if (!name || *name != query.name || message.size() - at < 4 ||
      dns_type{dns_u16(message, at)} != query.type || dns_u16(message, at + 2) != 1)
    return std::nullopt;
  dns_answer answer;
  answer.question_end = at += 4;
  answer.message.assign(message.begin(), message.end());

  seconds least = longest_kept;
  std::optional<seconds> negative;
  bool has_wanted = false;
  for (std::size_t section = 0; section < 3; ++section) {
    const std::size_t count_at = 6 + 2 * section;
    const auto count = dns_u16(message, count_at);
    for (std::uint16_t i = 0; i < count; ++i) {
      const auto found = read_record(message, at);
      if (!found)
        return std::nullopt;
      if (found->type == dns_type::opt && count_at == additionals_at) {
        // It stands last; what somebody put behind it is extra, and may point over it.
        set_u16(answer.message, count_at, i);
        if ((found->ttl >> 24) != 0)
          return std::nullopt; // an error that only EDNS knows
        at = found->begin;
        section = 3;
        break;
      }
      at = found->end;
      const auto ttl = as_ttl(found->ttl);
      answer.ttls.push_back(static_cast<std::uint16_t>(found->fields + 4));
      least = std::min(least, ttl);
      has_wanted = has_wanted || (section == 0 && (found->type == query.type));
      if (found->type == dns_type::soa && count_at == authorities_at)
        if (const auto minimum = soa_minimum(message, *found))
          negative = std::min({ttl, as_ttl(*minimum), longest_kept_negative});
    }
  }
  answer.message.resize(at);
  const auto rcode = dns_rcode{static_cast<std::uint8_t>(flags & rcode_bits)};
  if (rcode == dns_rcode::no_error && has_wanted)
    answer.keep = least;
  else if ((rcode == dns_rcode::no_error || rcode == dns_rcode::no_such_name) && negative)
    answer.keep = std::min(*negative, least);
  if (query.type == dns_type::any)
    answer.keep = seconds{0}; // whatever that server had at hand
  return answer;
}

dns_bytes adapt(const dns_answer& answer, const dns_query& query, seconds age) {
  auto message = answer.message;
  set_u16(message, 0, query.id);
  unsigned flags = dns_u16(message, 2);
  flags &= ~unsigned{recursion_desired | authentic_data | checking_disabled | 0x0040};
  flags |= recursion_available;
  if (query.recursion_desired)
    flags |= recursion_desired;
  if (query.checking_disabled)
    flags |= checking_disabled;
  if (query.dnssec_ok() || query.authentic_data) // RFC 6840, 5.8
    flags |= dns_u16(answer.message, 2) & authentic_data;
  set_u16(message, 2, static_cast<std::uint16_t>(flags));
  for (std::size_t i = 0; i < query.spelled.size(); ++i)
    message[dns_header_size + i] = static_cast<std::byte>(query.spelled[i]);
  for (const auto at : answer.ttls) {
    const auto left = as_ttl(dns_u32(message, at)) - age;
    set_u32(message, at, static_cast<std::uint32_t>(std::max(left, seconds{0}).count()));
  }
  if (query.edns)
    add_edns(message, query);
  return message;
}

dns_bytes cut_to(dns_bytes message, const dns_query& query, std::size_t limit) {
  if (message.size() <= limit)
    return message;
  message.resize(dns_header_size + query.spelled.size() + 4);
  set_u16(message, 2, dns_u16(message, 2) | truncated);
  for (const std::size_t count_at : {6, 8, 10})
    set_u16(message, count_at, 0);
  if (query.edns)
    add_edns(message, query);
  return message;
}

} // namespace vmswitch
