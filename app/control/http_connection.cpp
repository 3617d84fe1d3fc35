#include "app/control/http_connection.hpp"

#include <exception>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

#include "app/shortage.hpp"
#include "app/version.hpp"

namespace vmswitch {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

namespace {

// After a refusal, what is still under way is taken in, so that the client gets to read why.
constexpr std::size_t most_discarded = std::size_t{4} << 20;
constexpr std::chrono::seconds drain_time{2};

std::string head_of(const http_response& response, unsigned version, bool keep_alive) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  auto head = fmt::format("HTTP/1.1 {} {}\r\nServer: vmswitchd/{}\r\nContent-Type: {}\r\n",
                          response.status, std::string_view{reason.data(), reason.size()},
                          vmswitch::version(), response.type);
  for (const auto& [name, value] : response.headers)
    head += fmt::format("{}: {}\r\n", name, value);
  if (!keep_alive)
    head += "Connection: close\r\n";
  else if (version < 11)
    head += "Connection: keep-alive\r\n";
  return head;
}

// RFC 9112, 7.1.
std::string chunk(const std::string& piece) {
  return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
}

} // namespace

http_connection::http_connection(http_server& server, asio::generic::stream_protocol::socket socket,
                                 control_caller caller, control_role role)
    : server_{&server}, stream_{std::move(socket)}, caller_{std::move(caller)}, role_{role},
      buffer_{server.limits_.header + server.limits_.body}, handling_{server.context_} {}

void http_connection::start() {
  await_request();
}

void http_connection::close() {
  if (now_ == state::closed)
    return;
  if (now_ == state::streaming)
    --server_->streams_;
  now_ = state::closed;
  source_.reset();
  handling_.cancel();
  const auto self = shared_from_this();
  stream_.close();
  server_->forget(*this);
  server_ = nullptr;
}

void http_connection::await_request() {
  now_ = state::waiting;
  waits_since_ = clock::now();
  if (buffer_.size() > 0)
    return read_header(); // sent together with the last one
  stream_.expires_after(server_->limits_.idle);
  stream_.async_read_some(buffer_.prepare(2048),
                          [self = shared_from_this()](const error_code& problem, std::size_t got) {
                            if (self->now_ == state::closed)
                              return;
                            if (problem)
                              return self->close();
                            self->buffer_.commit(got);
                            self->read_header();
                          });
}

void http_connection::read_header() {
  now_ = state::reading;
  parser_.emplace();
  parser_->header_limit(server_->limits_.header);
  parser_->body_limit(server_->limits_.body);
  stream_.expires_after(server_->limits_.reading);
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](const error_code& problem, std::size_t) {
                            if (self->now_ != state::closed)
                              self->on_header(problem);
                          });
}

void http_connection::on_header(const error_code& problem) {
  if (problem)
    return refuse(problem);
  const auto& request = parser_->get();
  version_ = request.version();
  keep_alive_ = request.keep_alive();
  is_head_ = request.method() == http::verb::head;
  if (parser_->is_done())
    return handle();
  if (beast::iequals(request[http::field::expect], "100-continue"))
    return send_continue();
  read_body();
}

void http_connection::send_continue() {
  write("HTTP/1.1 100 Continue\r\n\r\n", &http_connection::read_body);
}

void http_connection::read_body() {
  now_ = state::reading;
  stream_.expires_after(server_->limits_.reading);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](const error_code& problem, std::size_t) {
                     if (self->now_ == state::closed)
                       return;
                     if (problem)
                       return self->refuse(problem);
                     self->handle();
                   });
}

void http_connection::refuse(const error_code& problem) {
  keep_alive_ = false;
  if (problem == http::error::header_limit || problem == http::error::buffer_overflow)
    return respond(error_response(
        431, fmt::format("the header is longer than {} bytes", server_->limits_.header)));
  if (problem == http::error::body_limit)
    return respond(error_response(
        413, fmt::format("the body is longer than {} bytes", server_->limits_.body)));
  if (problem == beast::error::timeout)
    return close(); // its time was up while it had the word: nobody is listening
  if (problem.category() == http::make_error_code(http::error::bad_method).category() &&
      problem != http::error::end_of_stream && problem != http::error::partial_message)
    return respond(
        error_response(400, fmt::format("this is no HTTP request: {}", problem.message())));
  close();
}

void http_connection::handle() {
  now_ = state::handling;
  waits_since_ = clock::time_point::max();
  stream_.expires_never();
  handling_.expires_after(server_->limits_.handling);
  handling_.async_wait([self = shared_from_this()](const error_code& problem) {
    if (!problem && self->now_ == state::handling) {
      self->keep_alive_ = false;
      self->respond(error_response(504, "the daemon did not answer in time: it may be stopping"));
    }
  });
  const auto& message = parser_->get();
  auto asked = parse_target({message.target().data(), message.target().size()});
  if (!asked)
    return respond(error_response(400, "the path of the request is none"));
  http_request request;
  request.method = is_head_ ? "GET" : std::string{message.method_string()};
  request.path = std::move(asked->path);
  request.query = std::move(asked->query);
  request.body = message.body();
  const auto header = [&](const char* name) {
    const auto value = message[name];
    return std::string{value.data(), value.size()};
  };
  request.last_event_id = header("Last-Event-ID");
  request.browser = {header("Host"),           header("Origin"), header("Sec-Fetch-Site"),
                     header("Sec-Fetch-Mode"), header("Cookie"), header("If-None-Match")};
  request.caller = caller_;
  request.role = role_;
  try {
    server_->handle_(std::move(request), responder{weak_from_this()});
  } catch (const std::exception& thrown) {
    answer(error_response(503, shortage(thrown).text));
  }
}

void http_connection::answer(http_response response) {
  asio::post(stream_.get_executor(),
             [self = shared_from_this(), response = std::move(response)]() mutable {
               if (self->now_ == state::handling)
                 self->respond(std::move(response));
             });
}

void http_connection::answer(std::unique_ptr<stream_source> stream) {
  // A handler of an executor must be copyable.
  asio::post(stream_.get_executor(),
             [self = shared_from_this(),
              shared = std::make_shared<std::unique_ptr<stream_source>>(std::move(stream))] {
               if (self->now_ == state::handling)
                 self->begin_stream(std::move(*shared));
             });
}

void http_connection::respond(http_response response) {
  handling_.cancel();
  ++server_->answered_[response.status];
  auto bytes = head_of(response, version_, keep_alive_);
  if (response.status != 304) // whose length would be that of what it stands for
    bytes += fmt::format("Content-Length: {}\r\n", response.body.size());
  bytes += "\r\n";
  if (!is_head_)
    bytes += response.body;
  parser_.reset();
  write(std::move(bytes), &http_connection::after_response);
}

void http_connection::write(std::string bytes, void (http_connection::*then)()) {
  now_ = state::writing;
  waits_since_ = clock::time_point::max();
  out_ = std::move(bytes);
  stream_.expires_after(server_->limits_.writing);
  asio::async_write(stream_, asio::buffer(out_),
                    [self = shared_from_this(), then](const error_code& problem, std::size_t) {
                      if (self->now_ == state::closed)
                        return;
                      if (problem)
                        return self->close();
                      self->out_ = {};
                      ((*self).*then)();
                    });
}

void http_connection::after_response() {
  if (keep_alive_)
    return await_request();
  error_code ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  waits_since_ = clock::now();
  stream_.expires_after(drain_time);
  drain();
}

void http_connection::drain() {
  stream_.async_read_some(asio::buffer(discarded_),
                          [self = shared_from_this()](const error_code& problem, std::size_t got) {
                            if (self->now_ == state::closed)
                              return;
                            self->discarded_bytes_ += got;
                            if (problem || self->discarded_bytes_ > most_discarded)
                              return self->close();
                            self->drain();
                          });
}

void http_connection::begin_stream(std::unique_ptr<stream_source> stream) {
  if (is_head_ || version_ < 11) {
    keep_alive_ = false;
    return respond(is_head_ ? http_response{200, {}, std::string{stream->type()}}
                            : error_response(505, "a stream needs HTTP/1.1"));
  }
  if (!server_->take_stream())
    return respond(error_response(503, "too many streams are open: end one of them"));
  handling_.cancel();
  ++server_->answered_[200];
  source_ = std::move(stream);
  http_response head;
  head.type = source_->type();
  head.headers = {{"Cache-Control", "no-store"}, {"Transfer-Encoding", "chunked"}};
  now_ = state::streaming;
  waits_since_ = clock::time_point::max();
  piece_ = head_of(head, version_, false) + "\r\n";
  source_->on_ready([weak = weak_from_this(), executor = stream_.get_executor()] {
    asio::post(executor, [weak] {
      if (const auto self = weak.lock(); self && self->now_ == state::streaming)
        self->pump();
    });
  });
  watch_hangup();
  pump();
}

// One piece is under way at most; the source keeps, or drops, what comes meanwhile.
void http_connection::pump() {
  if (is_pumping_)
    return;
  std::string more;
  if (!source_ended_)
    source_ended_ = !source_->fill(more);
  if (!more.empty())
    piece_ += chunk(more);
  if (source_ended_)
    piece_ += "0\r\n\r\n";
  if (piece_.empty())
    return;
  is_pumping_ = true;
  if (source_->is_patient())
    stream_.expires_never();
  else
    stream_.expires_after(server_->limits_.writing);
  asio::async_write(stream_, asio::buffer(piece_),
                    [self = shared_from_this()](const error_code& problem, std::size_t) {
                      if (self->now_ == state::closed)
                        return;
                      self->is_pumping_ = false;
                      self->piece_.clear();
                      if (problem || self->source_ended_)
                        return self->close();
                      self->stream_.expires_never();
                      self->pump();
                    });
}

// A client says nothing while it reads a stream: whatever comes is that it has gone, or ignored.
void http_connection::watch_hangup() {
  stream_.socket().async_read_some(
      asio::buffer(discarded_),
      [self = shared_from_this()](const error_code& problem, std::size_t got) {
        if (self->now_ == state::closed)
          return;
        self->discarded_bytes_ += got;
        if (problem == asio::error::eof && self->source_->finish())
          return;
        if (problem || self->discarded_bytes_ > most_discarded)
          return self->close();
        self->watch_hangup();
      });
}

} // namespace vmswitch
