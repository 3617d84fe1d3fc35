#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "app/control/http_server.hpp"
#include "transport/owned_fd.hpp"

namespace vmswitch {

/// One client of an http_server. Kept alive by the server and by what is under way.
class http_connection final : public responder::target,
                              public std::enable_shared_from_this<http_connection> {
public:
  using clock = std::chrono::steady_clock;

  http_connection(http_server& server, boost::asio::generic::stream_protocol::socket socket,
                  control_caller caller, control_role role);
  void start();
  /// Hangs up at once; idempotent.
  void close();
  /// Since when it keeps us waiting; max() if it is being served.
  clock::time_point waits_since() const noexcept { return waits_since_; }

  void answer(http_response response) override;
  void answer(std::unique_ptr<stream_source> stream) override;

private:
  using error_code = boost::system::error_code;
  enum class state : std::uint8_t { waiting, reading, handling, writing, streaming, closed };

  void await_request();
  void read_header();
  void on_header(const error_code& problem);
  void send_continue();
  void read_body();
  void handle();
  void refuse(const error_code& problem);
  void respond(http_response response);
  void write(std::string bytes, void (http_connection::*then)());
  void after_response();
  void drain();
  void begin_stream(std::unique_ptr<stream_source> stream);
  void pump();
  void watch_hangup();

  http_server* server_; // null once closed
  boost::beast::basic_stream<boost::asio::generic::stream_protocol> stream_;
  const control_caller caller_;
  const control_role role_;
  state now_ = state::waiting;
  clock::time_point waits_since_ = clock::now();
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  boost::asio::steady_timer handling_;
  std::string out_;
  bool keep_alive_ = false;
  bool is_head_ = false;
  unsigned version_ = 11;
  std::unique_ptr<stream_source> source_;
  bool is_pumping_ = false; // a piece is being written
  bool source_ended_ = false;
  std::string piece_;
  std::array<char, 1024> discarded_{};
  std::size_t discarded_bytes_ = 0;
};

} // namespace vmswitch
