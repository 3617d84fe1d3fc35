#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "vmnet/forward/relayed_forward.hpp"

namespace vmswitch {

/// One TCP connection through a forward: bytes from the client to the VM, and back.
///
/// Theory of operation. The client has been accepted; the VM is connected to, for connect_time at
/// most. Then each direction by itself reads what is there and writes it to the other side. What
/// the other side does not take is kept, at most one read of it (64 KiB), and nothing more is read
/// until it has been taken, so that a slow reader slows its sender. While nothing comes a
/// connection holds no memory but its own.
///
/// Each side's end is handed on when all before it has been, and the other direction goes on
/// (half-close). A connection that breaks on one side is reset on the other. What is silent for
/// long is asked by the kernel whether it is still there (keep_alive).
class tcp_connection : public std::enable_shared_from_this<tcp_connection> {
public:
  using tcp = boost::asio::ip::tcp;

  /// `ended` is called once, from anywhere but start().
  tcp_connection(relay_context& context, tcp::socket client,
                 std::shared_ptr<relay_counters> counters,
                 std::function<void(const std::shared_ptr<tcp_connection>&)> ended);

  /// False if there is no descriptor for it; then the client has been reset.
  bool start(const tcp::endpoint& vm);
  /// Ends both sides by a reset.
  void abort();

private:
  struct direction {
    tcp::socket& from;
    tcp::socket& to;
    std::atomic<std::uint64_t>& bytes;
    std::vector<std::byte> rest; // read, and not taken yet, from `sent` on
    std::size_t sent = 0;
    bool ended = false; // and its end has been handed on
  };

  void on_connect(const boost::system::error_code& problem);
  void pump(direction& way);
  bool write(direction& way, const std::byte* data, std::size_t size, std::size_t& written);
  void write_rest(direction& way);
  void await_data(direction& way);
  void end(direction& way);
  void watch_for_reset(tcp::socket& socket);
  void close();

  relay_context& context_;
  tcp::socket client_;
  tcp::socket vm_;
  boost::asio::steady_timer patience_;
  const std::shared_ptr<relay_counters> counters_;
  std::function<void(const std::shared_ptr<tcp_connection>&)> ended_;
  direction to_vm_;
  direction from_vm_;
};

/// Closes the socket so that the peer sees a broken connection, not an end.
void reset(boost::asio::ip::tcp::socket& socket);

/// Has the kernel find out that a peer is gone which says nothing any more: in eight minutes, or in
/// five if data are waiting for it. A VM may be paused for less.
void keep_alive(int socket) noexcept;

} // namespace vmswitch
