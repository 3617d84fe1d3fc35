#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "transport/datagram_endpoint.hpp"
#include "transport/datagram_io.hpp"
#include "transport/frame/burst.hpp"
#include "transport/frame/skipped_frames.hpp"
#include "transport/listening_socket.hpp"
#include "transport/readable_set.hpp"
#include "transport/retry_timer.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

/// What arrived from one user by one name in one call, in the order in which it was sent.
struct datagram_arrival {
  unix_address from;
  std::optional<uid_t> sender; ///< the user, if known
  burst frames;
  skipped_frames skipped{};
  bool hello = false; ///< "VFKT": the peer has introduced itself
};

/// What arrived in one call. Kept between calls, so that its memory is.
struct datagram_batch {
  std::vector<datagram_arrival> arrivals; ///< one a name and user
  std::uint32_t empty = 0;                ///< datagrams of 0 bytes, ignored
  std::uint32_t no_return_address = 0;    ///< datagrams from sockets without a name

  void clear() noexcept {
    arrivals.clear();
    empty = no_return_address = 0;
  }
};

/// A place that many datagram peers send to: a frame a datagram, no prefix (QEMU's `-netdev
/// dgram`, vfkit, libkrun).
///
/// Theory of operation. Datagrams are received many at a time, straight into a slab, at a distance
/// of one largest frame; the prefixes are written around them. Small frames are then moved
/// together, so that a slab holds many of them; large ones stay where they are. What arrived is
/// sorted by sender: one burst each.
///
/// Every datagram that its receiver has not read counts against the send buffer of the socket that
/// it was sent from, and towards a peer that has connected to us nothing else limits them. With one
/// socket for all, a single peer that stops reading would thus silence all others. So every peer
/// gets one of its own (datagram_endpoint): when a peer is met, the socket that it connected to
/// becomes its own, and a new one takes the place at the path, atomically. Peers that came in the
/// same instant share. A peer that sends without connecting is heard at the path's current socket,
/// and answered from its own all the same. All of them are behind one descriptor (readable_set).
///
/// A full peer does not make an unconnected socket un-writable, so nothing tells when it has read.
/// Links that found their peer full are woken by a timer instead (retry_timer).
class datagram_socket {
public:
  /// The most datagrams that one call receives.
  static constexpr std::size_t batch_size = datagram_io_batch;

  /// @pre socket.type() is dgram; prefix_size + max_frame <= slab::capacity
  static result<std::shared_ptr<datagram_socket>> create(listening_socket socket,
                                                         std::uint32_t max_frame);
  /// Calls withdraw().
  ~datagram_socket();
  enum class receive_status : std::uint8_t {
    more,    ///< there may be more: call again, now or later
    drained, ///< nothing was received; the descriptor becomes readable again
    full,    ///< nothing was received: call again with a new slab
    failed,  ///< `error` (errno) says why; other peers may still be heard
  };
  struct receive_result {
    receive_status status = receive_status::drained;
    int error = 0;
  };
  /// Receives at most `batch_size` datagrams into data[used, capacity) of `memory`, advances `used`
  /// behind them, and replaces the contents of `out`. Takes the peers in turn. One thread at a
  /// time.
  receive_result receive(const slab_ref& memory, std::uint32_t& used, datagram_batch& out);

  /// For a peer from which the last receive() has brought something for the first time: where to
  /// answer it from. On the thread that receives.
  std::shared_ptr<datagram_endpoint> claim() { return claim(heard_on_); }
  /// The same for a peer that was last heard on `endpoint`.
  std::shared_ptr<datagram_endpoint> claim(std::shared_ptr<datagram_endpoint> endpoint);

  /// Where everything that the last receive() brought has come from. By the receiving thread.
  const std::shared_ptr<datagram_endpoint>& heard_on() const noexcept { return heard_on_; }

  /// Lets the peer, from which the last receive() has brought something, have `own`, which was
  /// claimed for it before, for itself if that can be (see datagram_endpoint). On the thread that
  /// receives. After `both` the link receives by itself; nothing of the peer comes here any more.
  datagram_endpoint::dedication dedicate(const datagram_target& peer, datagram_endpoint& own);

  std::uint32_t max_frame() const noexcept { return max_frame_; }
  /// Whether a datagram is the "VFKT" by which some peers introduce themselves.
  static bool is_hello(std::span<const std::byte> datagram) noexcept;

  /// True if nobody can receive at that address any more. Thread-safe.
  static bool is_dead(const unix_address& peer);

  /// Readable when datagrams have come.
  int fd() const noexcept { return set_->fd(); }
  /// Readable when blocked links are to be woken: call on_retry(), on whatever thread.
  int retry_fd() const noexcept { return retry_->fd(); }
  void on_retry() { retry_->fire(); }
  retry_timer& retry() noexcept { return *retry_; }

  const std::string& path() const noexcept { return socket_.path(); }
  /// Removes the socket's file: no new peer comes. On the thread that receives.
  void withdraw() noexcept { socket_.withdraw(); }
  /// See listening_socket. On the thread that receives.
  result<void> change_access(const listen_config& access) { return socket_.change_access(access); }

private:
  datagram_socket(listening_socket socket, std::uint32_t max_frame,
                  std::unique_ptr<retry_timer> retry, std::shared_ptr<readable_set> set);
  void adopt_current();
  bool next_ready();
  void sort(const slab_ref& memory, std::uint32_t& used, std::size_t count, datagram_batch& out);

  listening_socket socket_; // the one that the path leads to
  const std::uint32_t max_frame_;
  const std::unique_ptr<retry_timer> retry_;
  const std::shared_ptr<readable_set> set_;
  std::uint64_t next_tag_ = 0;
  std::unordered_map<std::uint64_t, std::weak_ptr<datagram_endpoint>> endpoints_; // by tag
  std::size_t sweep_at_ = 64;                                                     // entries
  std::shared_ptr<datagram_endpoint> current_;                                    // of socket_
  std::shared_ptr<datagram_endpoint> heard_on_; // by the last receive()
  bool heard_settled_ = false;                  // whether it was settled before
  std::vector<std::uint64_t> ready_;            // tags still to be read
  std::vector<datagram_slot> slots_;            // of the last call
};

} // namespace vmswitch
