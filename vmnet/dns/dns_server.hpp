#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vmnet/dns/dns_cache.hpp"
#include "vmnet/dns/dns_queue.hpp"
#include "vmnet/dns/local_zone.hpp"
#include "vmnet/ip_packet.hpp"

namespace vmswitch {

/// Where an answer goes.
struct dns_peer {
  ip_path path;
  std::optional<std::uint64_t> connection; ///< of TCP; none: UDP
  std::size_t limit = 65535;               ///< bytes that the way there carries
  friend bool operator==(const dns_peer&, const dns_peer&) = default;
};

struct dns_counters {
  std::uint64_t queries = 0; ///< messages that came
  std::uint64_t ignored = 0; ///< no queries, or malformed
  std::uint64_t local = 0;   ///< answered from the network's own names
  std::uint64_t cached = 0;
  std::uint64_t asked = 0;      ///< questions that other servers were asked
  std::uint64_t failed = 0;     ///< ... and that had no usable answer
  std::uint64_t over_limit = 0; ///< dropped, since too many were waiting
  std::uint64_t truncated = 0;  ///< answers too long for UDP
};

/// The DNS server of a network, as pure logic: a message and the time in, answers out, at once or
/// when another server has answered.
///
/// Theory of operation. A query is answered from the local zone, or from the cache, or becomes a
/// question for another server; what several clients ask at one time is asked once. Questions wait
/// in a queue until few enough are under way. Whoever runs this takes them by next_question(), and
/// brings the answer or its absence by on_answer(). A client has its answer with its own id,
/// spelling, flags and EDNS, cut to what UDP carries for it.
///
/// Work and memory are bounded: by the queue, and by how many may wait for one question. What is
/// over a limit is dropped, and the client asks again. When the other servers are given up, or a
/// question has waited for longer than clients do, those who asked are told SERVFAIL.
class dns_server {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using reply = std::function<void(const dns_peer&, dns_bytes)>;

  static constexpr std::size_t most_askers = 256; // of one question
  static constexpr std::size_t most_all_askers = 16384;
  static constexpr std::chrono::seconds longest_wait{5}; // in the queue

  /// Answers go to `answer`, from within the other functions.
  dns_server(const dns_settings& settings, reply answer);

  /// A message of a client. `leases` may be null. False if it is dropped, and no answer will come.
  bool receive(const dns_peer& peer, std::span<const std::byte> message, const lease_table* leases,
               time_point now);

  struct question {
    std::uint32_t number = 0;
    dns_bytes message; ///< its id is 0
  };
  std::optional<question> next_question(time_point now);
  /// What another server says to a question; nothing: none has answered. A number that is not known
  /// is ignored.
  void on_answer(std::uint32_t number, std::optional<std::span<const std::byte>> message,
                 time_point now);
  /// Other servers than before are asked from now on.
  void forget_answers() { cache_.clear(); }

  const dns_counters& counters() const noexcept { return counters_; }
  /// Questions that are asked or wait to be.
  std::size_t open_questions() const noexcept { return questions_.size(); }
  /// The names of the network, in no order.
  std::vector<dns_entry> entries(const lease_table* leases, time_point now) {
    return zone_.entries(leases, now);
  }

private:
  struct asker {
    dns_peer peer;
    dns_query query;
  };
  struct pending {
    std::string key;
    mac_address first; // who asked first, whose turn it is
    time_point since;
    std::vector<asker> askers;
  };

  bool ask(const dns_peer& peer, dns_query query, std::string key, time_point now);
  void tell(const dns_peer& peer, const dns_query& query, dns_bytes message);

  const reply answer_;
  const bool has_upstream_;
  local_zone zone_;
  dns_cache cache_;
  dns_queue queue_;
  std::unordered_map<std::uint32_t, pending> questions_;
  std::unordered_map<std::string, std::uint32_t> by_key_;
  std::uint32_t last_number_ = 0;
  std::size_t askers_ = 0;
  dns_counters counters_;
};

} // namespace vmswitch
