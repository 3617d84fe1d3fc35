#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "vmnet/dns/ares_upstream.hpp"
#include "vmnet/dns/dns_server.hpp"
#include "vmnet/poll_set.hpp"
#include "vmnet/service_note.hpp"
#include "vmnet/tcp_responder.hpp"

namespace vmswitch {

/// Everything that the DNS service of a network is told.
struct dns_setup {
  dns_settings settings;
  std::vector<packet_address> addresses; ///< where VMs ask
  std::size_t mtu = 1500;
  ares_settings upstream; ///< `servers` is replaced by what `settings` say
  std::uint64_t seed = 0; ///< for TCP's sequence numbers
};

/// What a DNS service works with.
struct dns_surroundings {
  std::vector<mac_address> macs;              ///< that frames for the service's addresses go to
  std::function<const lease_table*()> leases; ///< null: there are none
  std::function<void(std::span<const std::byte>)> send; ///< a whole frame, to a VM
  std::function<void(const service_note&)> tell;
};

/// The DNS service of a network, from frame to frame: a dns_server with UDP and TCP (RFC 7766) in
/// front of it, and other servers behind it.
///
/// Over TCP a client may have several queries under way, which are answered as the answers come.
/// One that does not take its answers is not read; one that is silent, or talks nonsense, is cut
/// off.
class dns_service {
public:
  using clock = std::chrono::steady_clock;
  static constexpr std::uint16_t port = 53;
  static constexpr std::size_t most_open_queries = 16; // of one connection

  /// `polls` must outlive it.
  dns_service(dns_setup setup, poll_set& polls, dns_surroundings around);

  /// Whether a frame is for the service: UDP or TCP to its port, and not a later fragment.
  bool is_for_service(std::span<const std::byte> frame) const noexcept {
    return look_at_port(frame).port == port && is_to_us(frame);
  }
  /// @pre is_for_service(frame). What is malformed is dropped.
  void receive(std::span<const std::byte> frame, clock::time_point now);

  /// A descriptor of the poll_set that is ready; one of somebody else is left alone.
  void process(const poll_set::ready& ready, clock::time_point now);
  void on_time(clock::time_point now);
  /// When on_time() has something to do; nothing while nobody asks.
  std::optional<clock::time_point> due(clock::time_point now) const;
  /// Nothing is under way: no descriptor is watched, and nothing is due.
  bool is_idle() const noexcept { return upstream_.is_idle() && tcp_.connections() == 0; }

  dns_server& server() noexcept { return server_; }
  const tcp_responder& tcp() const noexcept { return tcp_; }

private:
  struct stream {
    std::size_t open = 0; // queries that will be answered
    std::size_t rest = 0; // bytes that have come and are not taken yet
    bool peer_ended = false;
  };

  bool is_to_us(std::span<const std::byte> frame) const noexcept;
  tcp_responder::callbacks tcp_callbacks();
  bool take_queries(tcp_responder::connection from, std::vector<std::byte>& input);
  void answer(const dns_peer& peer, dns_bytes message);
  void answered(tcp_responder::connection to);
  void end_if_done(tcp_responder::connection which);
  void pump();
  void judge(bool has_answer);
  void tell_limits();

  const std::vector<packet_address> addresses_;
  const std::size_t mtu_;
  const dns_surroundings around_;
  dns_server server_;
  ares_upstream upstream_;
  tcp_responder tcp_;
  std::map<tcp_responder::connection, stream> streams_;
  std::vector<tcp_responder::connection> resumable_;
  clock::time_point now_{}; // of the call
  unsigned failures_ = 0;   // in a row
  std::uint64_t told_over_limit_ = 0;
  std::optional<clock::time_point> told_at_;
};

} // namespace vmswitch
