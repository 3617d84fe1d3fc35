#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vmnet/ipv4.hpp"
#include "vmnet/ipv6.hpp"

namespace vmswitch {

/// A domain name in wire form (RFC 1035, 3.1) and lower case: labels, each behind its length, and
/// the root's zero; at most 255 bytes. Labels may hold any octets.
class dns_name {
public:
  /// The root.
  dns_name() : wire_(1, '\0') {}

  /// "web.vm.internal", with or without a dot at its end. Labels of letters, digits, '-' and '_'.
  static std::optional<dns_name> parse(std::string_view text);
  /// Takes it from `message` at `at`, which is moved behind it. Nothing if it is malformed, or
  /// points elsewhere (compression, RFC 1035, 4.1.4), which a question need not do.
  static std::optional<dns_name> read(std::span<const std::byte> message, std::size_t& at);
  /// "20.105.168.192.in-addr.arpa"
  static dns_name reverse(ipv4_address address);
  static dns_name reverse(const ipv6_address& address);

  const std::string& wire() const noexcept { return wire_; }
  bool is_root() const noexcept { return wire_.size() == 1; }
  /// Without the root: 3 of "web.vm.internal".
  std::size_t labels() const noexcept;
  /// Empty for the root.
  std::string_view first_label() const noexcept;
  /// Without the first label; the root's is the root.
  dns_name parent() const;
  /// `parent` itself is within it, too.
  bool is_within(const dns_name& parent) const noexcept;
  /// This name with a label in front. Nothing if that is too long.
  std::optional<dns_name> with_label(std::string_view label) const;

  friend auto operator<=>(const dns_name&, const dns_name&) = default;

private:
  explicit dns_name(std::string wire) : wire_{std::move(wire)} {}
  std::string wire_;
};

/// "web.vm.internal", "." for the root; odd octets as in RFC 1035, 5.1 ("\032").
std::string to_string(const dns_name& name);

struct dns_name_hash {
  std::size_t operator()(const dns_name& name) const noexcept {
    return std::hash<std::string>{}(name.wire());
  }
};

/// What is known of the addresses that a name of in-addr.arpa stands for: the octets that it fixes,
/// first to last, and whether there is something in front of all four.
struct reverse_block {
  ipv4_address first;    ///< octets that are not fixed are 0
  std::uint8_t octets;   ///< 0 to 4
  bool is_below = false; ///< more labels than an address has
};
/// Nothing for a name that is not in in-addr.arpa, or has other labels than octets there.
std::optional<reverse_block> reverse_block_of(const dns_name& name);

} // namespace vmswitch
