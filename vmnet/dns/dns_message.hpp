#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vmnet/dns/dns_name.hpp"
#include "vmnet/dns/dns_wire.hpp"

namespace vmswitch {

/// Types that we know something about (RFC 1035, 3.2.2, and later); others are carried as they are.
enum class dns_type : std::uint16_t {
  a = 1,
  ns = 2,
  cname = 5,
  soa = 6,
  ptr = 12,
  mx = 15,
  txt = 16,
  aaaa = 28,
  srv = 33,
  opt = 41,
  ixfr = 251,
  axfr = 252,
  any = 255,
};

enum class dns_rcode : std::uint8_t {
  no_error = 0,
  format_error = 1,
  server_failure = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5,
  bad_version = 16, ///< of EDNS, whose field has the upper bits
};

/// "AAAA", or "TYPE65" (RFC 3597).
std::string to_string(dns_type type);

inline constexpr std::size_t dns_header_size = 12;
/// The longest query that is looked at.
inline constexpr std::size_t largest_dns_query = 4096;
/// What UDP carries without EDNS (RFC 1035, 4.2.1).
inline constexpr std::size_t plain_udp_size = 512;
/// What we tell others to send by UDP: fits any path (RFC 9715).
inline constexpr std::size_t edns_udp_size = 1232;

struct dns_edns {
  std::uint16_t udp_size = 0; ///< 512 at least
  bool dnssec_ok = false;
};

/// A question (RFC 1035, 4.1) with what its sender says about the answer.
struct dns_query {
  std::uint16_t id = 0;
  bool recursion_desired = true;
  bool authentic_data = false;
  bool checking_disabled = false;
  dns_name name;
  std::string spelled; ///< the name as it was written, in wire form
  dns_type type = dns_type::a;
  std::optional<dns_edns> edns;

  bool dnssec_ok() const noexcept { return edns && edns->dnssec_ok; }
};

/// What a message of a client comes to: a query, or at least an answer that says what is wrong with
/// it; nothing of both for what is no query, such as an answer.
struct dns_received {
  std::optional<dns_query> query;
  std::optional<dns_bytes> refusal;
};

/// Reads a message of a client: one question of class IN. Options of EDNS are skipped, so cookies
/// and client subnets go no further.
dns_received parse_dns_query(std::span<const std::byte> message);

/// Writes an answer. What does not fit into 64 KiB is left out.
class dns_writer {
public:
  dns_writer(const dns_query& query, dns_rcode rcode, bool authoritative);

  /// Answers stand before authorities. `data` is in wire form, without compression.
  void answer(const dns_name& owner, dns_type type, std::uint32_t ttl, std::string_view data);
  void authority(const dns_name& owner, dns_type type, std::uint32_t ttl, std::string_view data);
  /// With the EDNS record that the query asks for.
  dns_bytes finish();

private:
  void add(std::size_t count_at, const dns_name& owner, dns_type type, std::uint32_t ttl,
           std::string_view data);
  void add_name(const dns_name& name);

  const dns_query& query_;
  dns_bytes message_;
  dns_rcode rcode_;
};

/// An answer of a header and the question only.
dns_bytes dns_error(const dns_query& query, dns_rcode rcode);

/// The EDNS record that answers `query`, which has one.
void add_edns(dns_bytes& message, const dns_query& query, unsigned upper_rcode = 0);

/// The same question for another server, with EDNS; its id is 0.
dns_bytes make_dns_question(const dns_query& query);

} // namespace vmswitch
