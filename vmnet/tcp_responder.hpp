#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "vmnet/ip_packet.hpp"

namespace vmswitch {

/// The serving end of TCP for a service that answers VMs on the wire itself (RFC 9293): segments
/// and the time in, frames out.
///
/// Theory of operation. Services live between the VMs and whatever stands behind the gateway's
/// address: libslirp, which has no way to serve a port of its own gateway, nor any over IPv6, or
/// the host's kernel, whose port may be in use, and may need a privilege. So requests that are a
/// few hundred bytes long, and answers of at most some 100 KiB, are carried by this small
/// implementation, the same for every mode and family. It only accepts connections. The wire is a
/// switch in this process, so there is neither congestion control nor selective acknowledgement,
/// and nothing is kept that comes out of order: what a full queue swallows is sent again by a
/// timer, from the first lost byte on. Windows are not scaled.
///
/// States: opening (SYN answered), open, ended by either side, gone. A side's end is its FIN; both
/// ends acknowledged, a reset, or silence ends the connection. The peer is in control of nothing
/// but its own connections: there is a limit for all and one for each VM, input is bounded by the
/// window, output by `largest_output`, and time by `patience`.
///
/// Not here: connecting, urgent data, options other than MSS, simultaneous open, TIME-WAIT (a late
/// segment of a connection that is gone is answered by a reset).
class tcp_responder {
public:
  using clock = std::chrono::steady_clock;
  using time_point = clock::time_point;
  using connection = std::uint64_t; ///< never used twice

  static constexpr std::size_t most_connections = 128, most_of_one_vm = 32;
  static constexpr std::size_t window = 8192; ///< bytes of input that are kept
  static constexpr std::size_t largest_output = 256 << 10;
  static constexpr std::chrono::seconds patience{10}; ///< with a silent connection
  static constexpr std::chrono::milliseconds first_resend{300};
  static constexpr int most_resends = 6;

  /// What the service does with a connection. None of these may be empty.
  struct callbacks {
    /// Bytes have come, which are taken from the front of `input`; what is left is kept, and shown
    /// again with the next ones. False: the peer talks nonsense, and is reset.
    std::function<bool(connection, std::vector<std::byte>& input)> received;
    /// The peer has ended its side, and nothing more will come.
    std::function<void(connection)> peer_ended;
    /// The connection is gone.
    std::function<void(connection)> gone;
    /// A whole frame for the peer.
    std::function<void(std::span<const std::byte> frame)> send;
  };

  /// `mtu` is the network's; `seed` makes the sequence numbers unpredictable.
  tcp_responder(std::size_t mtu, std::uint64_t seed, callbacks to);

  /// @pre a packet of parse_ip_packet() with TCP, for an address and port of the service
  void receive(const ip_packet& packet, time_point now);

  /// Sends bytes. A connection that is gone is none; one whose peer does not take what is sent is
  /// reset.
  void write(connection to, std::span<const std::byte> bytes, time_point now);
  /// Ends our side, behind what was written.
  void end(connection which, time_point now);
  /// The path of a connection; null if it is gone.
  const ip_path* path_of(connection which) const;
  /// Whether so much waits to be taken by the peer that no more should be written for it yet.
  bool is_congested(connection which) const;
  /// Shows kept input to received() again, as after is_congested() has ended.
  void resume(connection which, time_point now);

  /// When on_time() has something to do; nothing without connections.
  std::optional<time_point> due() const;
  void on_time(time_point now);

  std::size_t connections() const noexcept { return all_.size(); }
  std::uint64_t refused() const noexcept { return refused_; } ///< over a limit

private:
  struct segment;
  struct state {
    ip_path path;
    std::uint32_t acknowledged = 0; ///< the oldest byte that the peer has not got (SND.UNA)
    std::uint32_t next = 0;         ///< the next to send (SND.NXT)
    std::uint32_t furthest = 0;     ///< behind all that was ever sent
    std::uint32_t expected = 0;     ///< RCV.NXT
    std::uint32_t peer_window = 0;
    std::size_t segment_size = 536;
    std::vector<std::byte> output; ///< from `acknowledged` on; SYN and FIN are not in it
    std::vector<std::byte> input;
    std::size_t announced = window;   ///< of our window, as the peer knows it
    bool is_open = false;             ///< the SYN is acknowledged
    bool is_ended = false;            ///< by us: a FIN stands behind the output
    bool end_is_acknowledged = false; ///< the FIN has arrived
    bool peer_ended = false;
    bool must_acknowledge = false;
    bool is_broken = false; ///< to be reset
    int resends = 0;
    std::optional<time_point> resend_at;
    time_point idle_at;
  };
  using by_path = std::map<ip_path, connection>;
  using states = std::map<connection, state>;

  void open(const ip_packet& packet, const segment& got, time_point now);
  void process(connection which, state& one, const segment& got, time_point now);
  bool take_acknowledgement(state& one, const segment& got);
  void take_data(state& one, const segment& got);
  void show_input(connection which, state& one);
  void flush(state& one, time_point now);
  void resend(state& one, time_point now);
  void send_opening(state& one, time_point now);
  void send(state& one, std::uint32_t from, std::span<const std::byte> bytes, unsigned flags);
  void send_reset(const ip_packet& packet, const segment& got);
  /// Forgets it if it is over. @return whether it is
  bool settle(connection which, state& one);
  void forget(connection which);
  std::size_t largest_segment(bool is_ipv6) const;

  const std::size_t mtu_;
  std::mt19937_64 random_;
  const callbacks to_;
  by_path by_path_;
  states all_;
  std::map<mac_address, std::size_t> of_vm_;
  connection last_ = 0;
  std::uint64_t refused_ = 0;
};

} // namespace vmswitch
