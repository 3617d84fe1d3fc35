#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/control/http_door.hpp"
#include "app/control/http_types.hpp"

namespace vmswitch {

/// What one client may cost.
struct http_limits {
  std::size_t connections = 256;
  std::size_t streams = 64;
  std::uint32_t header = 8 * 1024; // bytes
  std::size_t body = 64 * 1024;
  std::chrono::milliseconds idle{60'000};    // between two requests
  std::chrono::milliseconds reading{10'000}; // a whole header; a whole body
  std::chrono::milliseconds handling{5'000};
  std::chrono::milliseconds writing{30'000}; // a whole response; a piece of a stream
};

class http_connection;

/// HTTP/1.1 behind one door.
///
/// Theory of operation. Everything runs on the one thread of its I/O context, and nothing waits:
/// any number of clients that say nothing, or speak slowly, cost a descriptor and a few KiB each,
/// and nobody else notices. There are at most `connections` of them. When one more comes, the one
/// that has kept us waiting longest goes, be it idle or in the middle of a request; those that wait
/// for us, or for what a stream sends, stay. A request is read whole, within limits of size and
/// time, before it is handled; the next one of the same connection is read when its answer has been
/// sent. A reader of a stream that takes nothing for `writing` is hung up on.
///
/// It knows who is at the other end, and tells the handler.
class http_server {
public:
  using handler = std::function<void(http_request, responder)>;

  http_server(boost::asio::io_context& context, std::unique_ptr<http_door> door, handler handle,
              http_limits limits = {});
  ~http_server();

  /// On the context's thread: stops listening and hangs up on everybody.
  void close();

  const std::string& name() const noexcept { return door_->name(); }
  std::size_t connections() const noexcept { return connections_.size(); }
  /// Answers by status code, for the metrics.
  const std::map<unsigned, std::uint64_t>& answered() const noexcept { return answered_; }
  /// Connections that had to go for others.
  std::uint64_t displaced() const noexcept { return displaced_; }

private:
  friend class http_connection;

  void await_client();
  void accept_all();
  void admit(owned_fd connection);
  bool make_room();
  void forget(http_connection& gone);
  bool take_stream() noexcept;

  boost::asio::io_context& context_;
  const std::unique_ptr<http_door> door_;
  const handler handle_;
  const http_limits limits_;
  boost::asio::posix::stream_descriptor listener_;
  boost::asio::steady_timer pause_;
  std::list<std::shared_ptr<http_connection>> connections_;
  // Ends with close(): what had already become ready then is none of ours.
  std::shared_ptr<const bool> is_open_ = std::make_shared<const bool>(true);
  std::size_t streams_ = 0;
  std::uint64_t displaced_ = 0;
  std::map<unsigned, std::uint64_t> answered_;
};

} // namespace vmswitch
