#include "vmnet/dns/dns_message.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace vmswitch {

namespace {

using bytes = std::span<const std::byte>;

constexpr std::uint16_t is_answer = 0x8000, authoritative_answer = 0x0400,
                        recursion_desired = 0x0100, recursion_available = 0x0080,
                        authentic_data = 0x0020, checking_disabled = 0x0010, opcode_bits = 0x7800;
constexpr std::uint16_t class_in = 1;
constexpr std::uint32_t dnssec_ok_bit = 0x8000;
constexpr std::size_t answers_at = 6, authorities_at = 8, additionals_at = 10;
constexpr std::size_t largest_message = 65535, edns_size = 11;
constexpr int most_additionals = 8;

constexpr std::array<std::pair<dns_type, const char*>, 13> type_names{{
    {dns_type::a, "A"},
    {dns_type::ns, "NS"},
    {dns_type::cname, "CNAME"},
    {dns_type::soa, "SOA"},
    {dns_type::ptr, "PTR"},
    {dns_type::mx, "MX"},
    {dns_type::txt, "TXT"},
    {dns_type::aaaa, "AAAA"},
    {dns_type::srv, "SRV"},
    {dns_type::opt, "OPT"},
    {dns_type::ixfr, "IXFR"},
    {dns_type::axfr, "AXFR"},
    {dns_type::any, "ANY"},
}};

// With nothing but a header, since the question could not be read, or is none of ours.
dns_bytes bare_refusal(bytes message, dns_rcode rcode) {
  dns_bytes made(dns_header_size);
  std::copy_n(message.begin(), 2, made.begin());
  const auto flags = dns_u16(message, 2);
  set_u16(made, 2,
          static_cast<std::uint16_t>(is_answer | (flags & (opcode_bits | recursion_desired)) |
                                     static_cast<unsigned>(rcode)));
  return made;
}

// The EDNS record among the additional ones (RFC 6891, 6.1). False if it is malformed, there are
// several, or its version is unknown, which `rcode` tells.
bool read_additionals(bytes message, std::size_t at, int count, dns_query& query,
                      dns_rcode& rcode) {
  rcode = dns_rcode::format_error;
  for (int i = 0; i < count; ++i) {
    if (!dns_name::read(message, at) || message.size() - at < 10)
      return false;
    const auto type = dns_type{dns_u16(message, at)};
    const std::size_t size = dns_u16(message, at + 8);
    if (message.size() - at - 10 < size)
      return false;
    if (type == dns_type::opt) {
      if (query.edns)
        return false;
      const auto extended = dns_u32(message, at + 4);
      query.edns = dns_edns{std::max<std::uint16_t>(plain_udp_size, dns_u16(message, at + 2)),
                            (extended & dnssec_ok_bit) != 0};
      if ((extended >> 16 & 0xff) != 0)
        rcode = dns_rcode::bad_version;
    }
    at += 10 + size;
  }
  return rcode != dns_rcode::bad_version;
}

} // namespace

std::string to_string(dns_type type) {
  const auto* found =
      std::ranges::find(type_names, type, [](const auto& one) { return one.first; });
  return found == type_names.end() ? "TYPE" + std::to_string(static_cast<unsigned>(type))
                                   : found->second;
}

dns_received parse_dns_query(bytes message) {
  if (message.size() < dns_header_size || message.size() > largest_dns_query)
    return {};
  const auto flags = dns_u16(message, 2);
  if ((flags & is_answer) != 0)
    return {};
  if ((flags & opcode_bits) != 0)
    return {{}, bare_refusal(message, dns_rcode::not_implemented)};
  const auto malformed = [&] {
    return dns_received{{}, bare_refusal(message, dns_rcode::format_error)};
  };
  if (dns_u16(message, 4) != 1 || dns_u16(message, answers_at) != 0 ||
      dns_u16(message, authorities_at) != 0 || dns_u16(message, additionals_at) > most_additionals)
    return malformed();
  dns_query query;
  auto at = dns_header_size;
  const auto name = dns_name::read(message, at);
  if (!name || message.size() - at < 4)
    return malformed();
  query.id = dns_u16(message, 0);
  query.recursion_desired = (flags & recursion_desired) != 0;
  query.authentic_data = (flags & authentic_data) != 0;
  query.checking_disabled = (flags & checking_disabled) != 0;
  query.name = *name;
  for (auto i = dns_header_size; i < at; ++i)
    query.spelled += static_cast<char>(dns_u8(message, i));
  query.type = dns_type{dns_u16(message, at)};
  const auto its_class = dns_u16(message, at + 2);
  auto rcode = dns_rcode::no_error;
  if (!read_additionals(message, at + 4, dns_u16(message, additionals_at), query, rcode)) {
    if (rcode != dns_rcode::bad_version)
      return malformed();
    return {{}, dns_error(query, rcode)};
  }
  // Zones are not for copying; OPT and what asks for nothing are no questions.
  if (its_class != class_in || query.type == dns_type::axfr || query.type == dns_type::ixfr)
    return {{}, dns_error(query, dns_rcode::refused)};
  if (query.type == dns_type::opt || query.type == dns_type{0})
    return malformed();
  return {std::move(query), {}};
}

dns_writer::dns_writer(const dns_query& query, dns_rcode rcode, bool authoritative)
    : query_{query}, message_(dns_header_size), rcode_{rcode} {
  set_u16(message_, 0, query.id);
  unsigned flags = is_answer | recursion_available | (static_cast<unsigned>(rcode) & 15);
  if (authoritative)
    flags |= authoritative_answer;
  if (query.recursion_desired)
    flags |= recursion_desired;
  if (query.checking_disabled)
    flags |= checking_disabled;
  set_u16(message_, 2, static_cast<std::uint16_t>(flags));
  set_u16(message_, 4, 1);
  add_octets(message_, query.spelled);
  add_u16(message_, static_cast<unsigned>(query.type));
  add_u16(message_, class_in);
}

void dns_writer::answer(const dns_name& owner, dns_type type, std::uint32_t ttl,
                        std::string_view data) {
  add(answers_at, owner, type, ttl, data);
}

void dns_writer::authority(const dns_name& owner, dns_type type, std::uint32_t ttl,
                           std::string_view data) {
  add(authorities_at, owner, type, ttl, data);
}

void dns_writer::add(std::size_t count_at, const dns_name& owner, dns_type type, std::uint32_t ttl,
                     std::string_view data) {
  if (message_.size() + owner.wire().size() + 10 + data.size() + edns_size > largest_message)
    return;
  add_name(owner);
  add_u16(message_, static_cast<unsigned>(type));
  add_u16(message_, class_in);
  add_u32(message_, ttl);
  add_u16(message_, static_cast<unsigned>(data.size()));
  add_octets(message_, data);
  set_u16(message_, count_at, static_cast<std::uint16_t>(dns_u16(message_, count_at) + 1));
}

// Names that end as the question does point into it (RFC 1035, 4.1.4).
void dns_writer::add_name(const dns_name& name) {
  constexpr unsigned pointer = 0xc000;
  auto rest = name;
  while (!rest.is_root() && !query_.name.is_within(rest)) {
    add_octets(message_, rest.wire().substr(0, 1 + rest.first_label().size()));
    rest = rest.parent();
  }
  if (rest.is_root())
    add_u8(message_, 0);
  else
    add_u16(message_, static_cast<unsigned>(pointer | (dns_header_size + query_.name.wire().size() -
                                                       rest.wire().size())));
}

dns_bytes dns_writer::finish() {
  if (query_.edns)
    add_edns(message_, query_, static_cast<unsigned>(rcode_) >> 4);
  return std::move(message_);
}

dns_bytes dns_error(const dns_query& query, dns_rcode rcode) {
  return dns_writer{query, rcode, false}.finish();
}

void add_edns(dns_bytes& message, const dns_query& query, unsigned upper_rcode) {
  add_u8(message, 0);
  add_u16(message, static_cast<unsigned>(dns_type::opt));
  add_u16(message, edns_udp_size);
  add_u32(message, upper_rcode << 24 | (query.dnssec_ok() ? dnssec_ok_bit : 0));
  add_u16(message, 0);
  set_u16(message, additionals_at,
          static_cast<std::uint16_t>(dns_u16(message, additionals_at) + 1));
}

dns_bytes make_dns_question(const dns_query& query) {
  dns_bytes message(dns_header_size);
  unsigned flags = query.recursion_desired ? recursion_desired : 0;
  if (query.authentic_data)
    flags |= authentic_data;
  if (query.checking_disabled)
    flags |= checking_disabled;
  set_u16(message, 2, static_cast<std::uint16_t>(flags));
  set_u16(message, 4, 1);
  add_octets(message, query.name.wire());
  add_u16(message, static_cast<unsigned>(query.type));
  add_u16(message, class_in);
  add_edns(message, query);
  return message;
}

} // namespace vmswitch
