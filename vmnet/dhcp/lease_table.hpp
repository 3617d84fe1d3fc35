#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "transport/frame/mac_address.hpp"
#include "vmnet/dhcp/dhcp_config.hpp"
#include "vmnet/ipv4.hpp"

namespace vmswitch {

/// Who has which address of a network.
///
/// Theory of operation. There is one entry for each address that is lent, was lent, or is kept from
/// being lent; it stays when a lease ends, so that the client gets the same address again. A client
/// is a MAC address. It is offered, in this order: what is reserved for it; what it has or had
/// last; what it asks for; an address that nobody had, found from a hash of its MAC address, so
/// that it stays the same even if everything is forgotten; an ended lease, the least recently used.
///
/// When none of that is left, leases that run may still be those of VMs that have gone. Then the
/// holders are to be asked (ARP) whether they are there: `to_probe` names some, least recently used
/// first, and what does not answer within `probe_patience` (that is, is not `seen`) may be lent to
/// the next who asks. Clients ask again after a few seconds, so no timer is needed.
///
/// An address seen in use by somebody who has no lease for it is not lent, nor is one that a client
/// has declined, each for a while.
///
/// Pure, no lock; `now` is steady and only ever grows.
class lease_table {
public:
  using time_point = std::chrono::steady_clock::time_point;

  enum class state : std::uint8_t {
    offered,  ///< kept for a client that may ask for it; not lent after `until`
    bound,    ///< lent until `until`
    ended,    ///< released: free, but remembered
    declined, ///< a client found it in use; kept back until `until`
    in_use,   ///< seen with somebody who has no lease; kept back until `until`
  };
  struct entry {
    ipv4_address address;
    mac_address client; ///< of `in_use`: who was seen
    state is = state::ended;
    time_point until = time_point::min();
    time_point used = time_point::min();   ///< when last lent or extended; min: never
    time_point seen = time_point::min();   ///< in an ARP packet
    time_point probed = time_point::min(); ///< when its holder was asked, and has not answered
    std::string name;                      ///< what the client calls itself; may be empty

    bool is_live(time_point now) const noexcept { return is != state::ended && until > now; }
  };

  static constexpr std::size_t most_entries = 16384;
  static constexpr std::chrono::seconds offer_time{10};
  static constexpr std::chrono::minutes decline_time{10};
  static constexpr std::chrono::hours in_use_time{24};
  static constexpr std::chrono::seconds probe_patience{1};
  static constexpr std::chrono::seconds answer_time{5};   ///< who answered is not asked again
  static constexpr std::chrono::seconds probe_memory{60}; ///< an older silence says nothing
  static constexpr std::size_t probes_at_once = 8;

  explicit lease_table(const dhcp_settings& settings);

  /// An address for the client, kept for it for `offer_time`; nothing if there is none.
  std::optional<ipv4_address> offer(mac_address client, std::optional<ipv4_address> wanted,
                                    time_point now);

  enum class grant : std::uint8_t { leased, extended, refused };
  /// Lends `address` to the client for the lease time if the client may have it.
  grant bind(mac_address client, ipv4_address address, const std::string& name, time_point now);
  /// Takes back an offer that was not accepted.
  void forget_offer(mac_address client);
  /// False, and nothing happens, if the client has no lease of this address.
  bool release(mac_address client, ipv4_address address, time_point now);
  bool decline(mac_address client, ipv4_address address, time_point now);

  /// `who` uses this address. True if that is the first one knows of a user without a lease.
  bool saw(ipv4_address address, mac_address who, time_point now);

  /// Whose holders to ask for a sign of life now that offer() has found nothing.
  std::vector<ipv4_address> to_probe(time_point now);

  /// Puts back what was remembered outside; false if the address may not be lent any more, or it or
  /// the client is known already.
  bool restore(const entry& remembered);

  /// Takes over what the table of the same network knew before its settings changed. @pre empty
  /// A lease that still may be goes on. One that may not (its address is out of the range, or now
  /// reserved for another) is kept as long as it runs, so that nobody else is lent an address in
  /// use; its client is refused when it asks for more time, and gets another.
  void inherit(const lease_table& before, time_point now);

  const entry* find(ipv4_address address) const;
  const entry* find(mac_address client) const;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [address, one] : entries_)
      visit(one);
  }
  std::size_t size() const noexcept { return entries_.size(); }
  /// Changes with everything that is worth remembering outside.
  std::uint64_t version() const noexcept { return version_; }

private:
  bool lendable(ipv4_address address) const;
  bool belongs_to_other(mac_address client, ipv4_address address) const;
  std::optional<ipv4_address> reserved(mac_address client) const;
  bool is_open_to(mac_address client, ipv4_address address, time_point now) const;
  std::optional<ipv4_address> choose(mac_address client, std::optional<ipv4_address> wanted,
                                     time_point now);
  std::optional<ipv4_address> unused(mac_address client) const;
  std::optional<ipv4_address> reclaim(mac_address client, time_point now);
  entry& take(mac_address client, ipv4_address address);
  void erase(ipv4_address address);
  void forget_client(const entry& one);

  ipv4_subnet subnet_;
  dhcp_range range_;
  std::chrono::seconds lease_time_;
  std::unordered_set<std::uint32_t> excluded_;
  std::unordered_map<std::uint64_t, std::uint32_t> reserved_for_; // by client
  std::unordered_map<std::uint32_t, std::uint64_t> reserved_by_;  // by address
  std::unordered_map<std::uint32_t, entry> entries_;
  std::unordered_map<std::uint64_t, std::uint32_t> addresses_; // by client; not if declined
  time_point full_until_ = time_point::min();   // nothing was found lately: do not search again
  time_point probed_until_ = time_point::min(); // likewise
  std::uint64_t version_ = 0;
};

} // namespace vmswitch
