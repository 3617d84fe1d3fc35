#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/datagram_io.hpp"
#include "transport/datagram_socket.hpp"
#include "transport/link.hpp"
#include "transport/retry_timer.hpp"
#include "transport/unix_address.hpp"

namespace vmswitch {

/// One peer of a datagram socket. At first it only sends: the owner of the socket receives for all
/// peers. When the peer is found to have its endpoint for itself (datagram_socket::dedicate) the
/// link is told so (dedicate), sends without a name, and receives if `reads`.
///
/// Links of one socket may be used on different threads, one thread at a time each, whichever
/// thread calls datagram_socket::on_retry(). Before it is dedicated, what is full may be the peer's
/// queue, of which nobody tells: so a link that would block also tells `on_ready` that it is
/// writable 100 us later, and after twice the time, up to 2 ms, as long as it remains full.
class datagram_link final : public link, private retry_timer::waiter {
public:
  static constexpr std::chrono::microseconds first_retry{100};
  static constexpr std::chrono::microseconds last_retry{2000};

  /// Claims the socket's endpoint (see datagram_socket::claim for when and on which thread).
  datagram_link(const std::shared_ptr<datagram_socket>& socket,
                std::shared_ptr<const datagram_target> peer);
  /// Sends from an endpoint that was claimed before.
  datagram_link(std::shared_ptr<datagram_socket> socket,
                std::shared_ptr<const datagram_target> peer,
                std::shared_ptr<datagram_endpoint> claimed);
  datagram_link(const datagram_link&) = delete;
  datagram_link& operator=(const datagram_link&) = delete;
  ~datagram_link() override;

  /// Would block for ever until it is dedicated. Many datagrams a call.
  io_result read(std::span<std::byte> space) override;
  /// Accepts whole frames only. `closed` when the peer's socket has gone.
  io_result write(std::span<const iovec> wire) override;
  /// A duplicate of the endpoint's, since several links may share that.
  int fd() const noexcept override { return watched_.get(); }
  bool receives() const noexcept override { return reads_; }
  void dedicate(bool reads) override;
  /// A retry is a guess.
  bool tells_writable() const noexcept override { return !target_; }
  /// Tells `notify` at once that the link is writable. `notify` may be called on the thread that
  /// calls on_retry(), but never after the link's destruction.
  void on_ready(std::function<void(readiness)> notify) override;
  /// "/tmp/vm1.sock"
  std::string peer() const override { return to_string(peer_); }

private:
  void retry() override;

  const std::shared_ptr<datagram_socket> socket_;
  const std::shared_ptr<datagram_endpoint> endpoint_;
  const owned_fd watched_;
  const unix_address peer_;
  std::shared_ptr<const datagram_target> target_; // null once dedicated
  std::function<void(readiness)> notify_;         // changed only while not armed
  std::chrono::microseconds delay_ = first_retry;
  bool armed_ = false; // a retry was asked for, and may have come
  bool reads_ = false;
  std::vector<datagram_slot> slots_; // once it reads
};

} // namespace vmswitch
