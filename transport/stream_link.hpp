#pragma once

#include <string>

#include "transport/link.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// A connected Unix stream socket: QEMU's `-netdev stream` and `-netdev socket,fd=3`.
///
/// Out of kernel memory (ENOBUFS, ENOMEM) never ends the link: it is `would_block`, after one more
/// try with as little memory as possible. Something of ours that the peer has not read yet makes
/// the descriptor writable when it is read. With nothing under way no event follows, so a port
/// with frames to send tries again when its egress deadline passes, which it waits for anyway:
/// that bounds both the retries and the pause.
class stream_link final : public link {
public:
  /// Takes a connected socket and makes it non-blocking and closed on exec.
  explicit stream_link(owned_fd socket);

  io_result read(std::span<std::byte> space) override;
  io_result write(std::span<const iovec> wire) override;
  int fd() const noexcept override { return socket_.get(); }
  /// "pid 4711, uid 1000"
  std::string peer() const override { return peer_; }
  peer_identity identity() const override { return identity_; }

private:
  owned_fd socket_;
  std::string peer_;
  peer_identity identity_;
};

} // namespace vmswitch
