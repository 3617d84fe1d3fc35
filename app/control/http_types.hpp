#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/control/access.hpp"

namespace vmswitch {

/// Headers that browsers send; empty where there is none.
struct browser_headers {
  std::string host{};
  std::string origin{};
  std::string fetch_site{}; // Sec-Fetch-Site
  std::string fetch_mode{}; // Sec-Fetch-Mode
  std::string cookie{};
  std::string if_none_match{};
};

/// A request that has been read whole, and whose sender is known.
struct http_request {
  std::string method; // "GET"; a HEAD request comes as one
  std::string path;   // percent-decoded, without the query
  std::map<std::string, std::string, std::less<>> query;
  std::map<std::string, std::string, std::less<>> captures; // of the route's {names}
  std::string body;
  std::string last_event_id; // header Last-Event-ID
  browser_headers browser;
  std::string set_cookie; // what a page is to send along
  control_caller caller;
  control_role role = control_role::none;
};

struct http_response {
  unsigned status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// {"error": text}
http_response error_response(unsigned status, std::string_view text);

/// A response that goes on: events, a capture. It ends with the client or by itself; its
/// destructor is where everything stops. Called on the control thread.
class stream_source {
public:
  virtual ~stream_source() = default;
  virtual std::string_view type() const = 0;
  /// Appends what there is, some 64 KiB at most, to `out`, which is empty. False: nothing will
  /// ever come again. Called when the last piece has been sent: while a reader is slow it is not.
  virtual bool fill(std::string& out) = 0;
  /// `wake` is to be called, on any thread, when there is something again after fill() has found
  /// nothing. It outlives the source.
  virtual void on_ready(std::function<void()> wake) = 0;
  /// The client has half-closed its connection: it has had enough. True: the stream will come to
  /// its end by itself, and what is left is still sent.
  virtual bool finish() { return false; }
  /// Whether a client that takes nothing for long is kept: one may look at a capture and think.
  virtual bool is_patient() const { return false; }
};

/// Where a handler puts its answer: one, now or later, on any thread. Copies are one. Without an
/// answer in time the client is told so.
class responder {
public:
  class target {
  public:
    virtual ~target() = default;
    /// On any thread.
    virtual void answer(http_response response) = 0;
    virtual void answer(std::unique_ptr<stream_source> stream) = 0;
  };

  explicit responder(std::weak_ptr<target> to) : to_{std::move(to)} {}
  void operator()(http_response response) const {
    if (const auto to = to_.lock())
      to->answer(std::move(response));
  }
  void operator()(std::unique_ptr<stream_source> stream) const {
    if (const auto to = to_.lock())
      to->answer(std::move(stream));
  }

private:
  std::weak_ptr<target> to_;
};

/// Splits a request target ("/v1/ports?network=a%20b"). Nothing if it is not one of ours: no
/// leading '/', a bad escape, a NUL, too many parts. Pure.
struct request_target {
  std::string path;
  std::map<std::string, std::string, std::less<>> query;
};
std::optional<request_target> parse_target(std::string_view target);

} // namespace vmswitch
