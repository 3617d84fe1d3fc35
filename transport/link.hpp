#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <sys/uio.h>

#include "transport/frame/frame_tally.hpp"
#include "transport/peer_identity.hpp"

namespace vmswitch {

/// What a link has become ready for. Bits, so that several can be told at once.
struct readiness {
  bool readable = false;
  bool writable = false;
  bool hangup = false; ///< the peer closed: read on until `closed`, even after a short read
};

enum class io_status : std::uint8_t {
  ok,          ///< `bytes` were transferred; a short count: "drained" (see `more`) or "full"
  would_block, ///< nothing now; the link becomes ready later
  closed,      ///< the peer has gone, in good order
  failed,      ///< `error` (errno) says why; the link is of no more use
};

struct io_result {
  io_status status = io_status::ok;
  std::size_t bytes = 0;
  int error = 0;
  /// Frames that were left out: of write(), within `bytes`, those that the peer can never take; of
  /// read(), those that are larger than the network's largest.
  frame_tally refused{};
  /// read(): there may be more, though `bytes` are less than was asked for.
  bool more = false;
};

/// How frames enter and leave the process. One actor at a time uses a link; it never blocks.
///
/// Bytes on this interface are in wire form. A stream passes them as they come, partial frames
/// included; a link whose medium carries bare frames adds and removes the prefixes itself and
/// transfers whole frames only.
class link {
public:
  virtual ~link() = default;

  /// Receives into `space`. @pre space holds the network's largest frame in wire form
  virtual io_result read(std::span<std::byte> space) = 0;

  /// Sends from the front of `wire`, a list of ranges that each begin with a prefix (the first one
  /// may begin inside a frame that the previous call accepted in part). At most `max_iovecs`.
  virtual io_result write(std::span<const iovec> wire) = 0;

  /// The descriptor whose readiness is this link's, to be watched edge-triggered; -1 if only the
  /// function given to `on_ready` tells.
  virtual int fd() const noexcept = 0;

  /// False if frames from the peer come by another way, so that read() never has any.
  virtual bool receives() const noexcept { return true; }

  /// From now on the peer has this link's medium for itself: it can tell when it is writable, and
  /// if `reads`, frames come by read(), which they may not have done before.
  virtual void dedicate(bool reads);

  /// Whether "writable" is a promise. False for a medium that cannot tell and is merely tried again
  /// now and then.
  virtual bool tells_writable() const noexcept { return true; }

  /// For links that know more than their descriptor, if any. `notify` must only send or wake; it
  /// may be called on any thread, but not after the link's end. Default: does nothing.
  virtual void on_ready(std::function<void(readiness)> notify);

  /// Who is at the other end, for people: "pid 4711", "/tmp/vm1.sock".
  virtual std::string peer() const = 0;

  /// The same for programs, where the system tells.
  virtual peer_identity identity() const { return {}; }

  /// The most ranges that one write() takes (IOV_MAX on Linux).
  static constexpr std::size_t max_iovecs = 1024;
};

} // namespace vmswitch
