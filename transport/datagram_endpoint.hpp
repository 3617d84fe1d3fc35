#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "transport/datagram_target.hpp"
#include "transport/link.hpp"
#include "transport/own_name.hpp"
#include "transport/owned_fd.hpp"
#include "transport/readable_set.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

/// One of the sockets that a datagram_socket receives on, shared by the links that answer from it.
///
/// Theory of operation. A new client may have connected to the endpoint without a word, so nobody
/// may be shut out of it: the endpoint is shared by whoever comes, its owner receives on it, and it
/// answers by name. Once the path leads elsewhere (`moved`) nobody new comes. What is received
/// after it has been empty since then (`settled`) was most likely sent by somebody who has
/// connected to it. If the system confirms that, and that nobody else has (socket_users.hpp), a
/// peer has the endpoint for itself, and then the endpoint is connected to the peer
/// (`dedicate`), which is worth a lot: the system no longer looks the name up for every frame,
/// tells when the peer has room, and lets 90 of its frames wait instead of 10 (a limit of
/// net.unix.max_dgram_qlen, which does not hold between two sockets connected to each other).
class datagram_endpoint {
public:
  /// Adds itself to `set` under `tag`, and leaves it upon destruction.
  datagram_endpoint(owned_fd socket, std::shared_ptr<readable_set> set, std::uint64_t tag);
  datagram_endpoint(const datagram_endpoint&) = delete;
  datagram_endpoint& operator=(const datagram_endpoint&) = delete;
  ~datagram_endpoint();

  /// Sends the frames of `wire` (see link::write) to the address of a datagram_target, or if `to`
  /// is null to the peer that it is dedicated to. Accepts whole frames only: `bytes` are those in
  /// wire form of the frames sent or refused, whatever the status. `would_block` with bytes is
  /// possible. `closed` also if the peer has meanwhile connected to another socket of the server's,
  /// as one that was started anew does. Thread-safe.
  io_result send(const unix_address* to, std::span<const iovec> wire) const noexcept;

  // By the receiving thread, all of these:

  /// The path leads elsewhere from now on.
  void moved() noexcept { moved_ = true; }
  /// A call has received less than it had room for.
  void emptied() noexcept { settled_ = moved_; }
  bool settled() const noexcept { return settled_; }

  enum class dedication : std::uint8_t { none, sends, both };
  /// Connects to a peer that was just heard on another endpoint, or on this one while it was
  /// settled (`here`), if no other peer can be hurt by it; only the first try counts. `both`: the
  /// peer is connected to this endpoint as well; it has left the set, and whoever asked receives
  /// from now on.
  dedication dedicate(const datagram_target& peer, bool here) noexcept;

  /// True if its peer had connected to it (`both`) and has gone since. Slow.
  bool abandoned() const;

  /// Adds itself to the set, if that has failed so far for want of memory. By the receiving thread.
  void enlist() noexcept {
    if (!enlisted_)
      enlisted_ = set_->add(fd(), tag_);
  }

  int fd() const noexcept { return socket_.get(); }
  std::uint64_t tag() const noexcept { return tag_; }

private:
  const owned_fd socket_;
  const own_name name_;
  const std::shared_ptr<readable_set> set_;
  const std::uint64_t tag_;
  bool enlisted_ = false;
  bool moved_ = false;
  bool settled_ = false;
  bool tried_ = false;      // to dedicate it
  bool has_client_ = false; // `both`
};

} // namespace vmswitch
